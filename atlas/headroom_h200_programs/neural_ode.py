# SPDX-License-Identifier: Apache-2.0
"""Trains torchdiffeq's neural differential equation, its gradient by the adjoint equation."""
import steps
import torch
from torch import nn
from torchdiffeq import odeint_adjoint


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 512), nn.Tanh(), nn.Linear(512, 512), nn.Tanh(),
                                 nn.Linear(512, 64))

    def forward(self, t, y):
        return self.net(y)


torch.manual_seed(0)
with torch.device("cuda"):
    field = Field()
    start, end = torch.randn(32768, 64), torch.randn(32768, 64)
    times = torch.linspace(0, 1, 5)
optimizer = torch.optim.Adam(field.parameters(), 1e-3)


def loss_of():
    path = odeint_adjoint(field, start, times, method="rk4", options={"step_size": 0.125})
    return (path[-1] - end).square().mean()


steps.trained(optimizer, loss_of)
