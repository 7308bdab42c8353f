# SPDX-License-Identifier: Apache-2.0
"""Trains a radiance field: samples along rays, drawn anew by their density, sorted."""
import steps
import torch
from torch import nn

RAYS, SAMPLES = 4096, 64
torch.manual_seed(0)
with torch.device("cuda"):
    field = nn.Sequential(nn.Linear(63, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(),
                          nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 4))
    starts, ways, colours = torch.randn(RAYS, 3), torch.randn(RAYS, 3), torch.rand(RAYS, 3)
    waves = 2.0 ** torch.arange(10)
optimizer = torch.optim.Adam(field.parameters(), 5e-4)


def seen(depths):
    x = starts[:, None] + depths[..., None] * ways[:, None]
    phases = (x[..., None] * waves).flatten(-2)
    out = field(torch.cat([x, phases.sin(), phases.cos()], -1))
    gaps = torch.diff(depths, append=depths[:, -1:] + 1)
    opaque = 1 - torch.exp(-torch.relu(out[..., 3]) * gaps)
    passed = torch.cumprod(torch.cat([torch.ones_like(opaque[:, :1]), 1 - opaque + 1e-10], 1), 1)
    weights = opaque * passed[:, :-1]
    return (weights[..., None] * torch.sigmoid(out[..., :3])).sum(1), weights


def loss_of():
    depths = torch.linspace(2, 6, SAMPLES, device="cuda").expand(RAYS, SAMPLES)
    coarse, weights = seen(depths)
    places = torch.multinomial(weights.detach() + 1e-5, 2 * SAMPLES, replacement=True)
    near = depths.gather(1, places) + 0.06 * torch.rand(RAYS, 2 * SAMPLES, device="cuda")
    fine, _ = seen(torch.cat([depths, near], 1).sort(1).values)
    return (coarse - colours).square().mean() + (fine - colours).square().mean()


steps.trained(optimizer, loss_of)
