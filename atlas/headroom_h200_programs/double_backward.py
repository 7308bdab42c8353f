# SPDX-License-Identifier: Apache-2.0
"""Trains a critic with WGAN's penalty on gradients, so by a backward of a backward."""
import steps
import torch
from torch import nn

torch.manual_seed(0)
with torch.device("cuda"):
    critic = nn.Sequential(
        nn.Conv2d(3, 128, 5, 2, 2), nn.LeakyReLU(0.2), nn.Conv2d(128, 256, 5, 2, 2),
        nn.LeakyReLU(0.2), nn.Conv2d(256, 512, 5, 2, 2), nn.LeakyReLU(0.2), nn.Flatten(),
        nn.Linear(512 * 64, 1))
    real, made = torch.randn(128, 3, 64, 64), torch.randn(128, 3, 64, 64)
optimizer = torch.optim.Adam(critic.parameters(), 1e-4, betas=(0.0, 0.9))


def loss_of():
    share = torch.rand(128, 1, 1, 1, device="cuda")
    between = (share * real + (1 - share) * made).requires_grad_()
    slope, = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    penalty = (slope.flatten(1).norm(dim=1) - 1).square().mean()
    return critic(made).mean() - critic(real).mean() + 10 * penalty


steps.trained(optimizer, loss_of)
