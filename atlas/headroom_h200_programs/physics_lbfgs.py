# SPDX-License-Identifier: Apache-2.0
"""Fits a network to Burgers' equation by L-BFGS, so by second derivatives and a line search."""
import steps
import torch
from torch import nn

torch.manual_seed(0)
with torch.device("cuda"):
    net = nn.Sequential(nn.Linear(2, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(),
                        nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, 1))
    points = (2 * torch.rand(200_000, 2) - 1).requires_grad_()
optimizer = torch.optim.LBFGS(net.parameters(), max_iter=5, history_size=20)


def gradient(of):
    return torch.autograd.grad(of.sum(), points, create_graph=True)[0]


def closure():
    optimizer.zero_grad()
    u = net(points)
    first = gradient(u)
    second = gradient(first[:, :1])[:, :1]
    loss = (first[:, 1:] + u * first[:, :1] - 0.003 * second).square().mean()
    loss.backward()
    return loss


steps.run(lambda: optimizer.step(closure).detach())
