# SPDX-License-Identifier: Apache-2.0
"""Trains a Fourier neural operator: products of complex numbers between transforms in two ways."""
import steps
import torch
from torch import nn

WIDTH, MODES = 64, 24


class Spectral(nn.Module):
    def __init__(self):
        super().__init__()
        shape = (2, WIDTH, WIDTH, MODES, MODES)
        self.weights = nn.Parameter(torch.randn(shape, dtype=torch.cfloat) / WIDTH ** 2)
        self.beside = nn.Conv2d(WIDTH, WIDTH, 1)

    def forward(self, x):
        waves = torch.fft.rfft2(x)
        out = torch.zeros_like(waves)
        for part, rows in zip(self.weights, (slice(MODES), slice(-MODES, None))):
            out[:, :, rows, :MODES] = torch.einsum("bixy,ioxy->boxy", waves[:, :, rows, :MODES],
                                                   part)
        return torch.fft.irfft2(out, s=x.shape[-2:]) + self.beside(x)


torch.manual_seed(0)
with torch.device("cuda"):
    first, last = nn.Conv2d(3, WIDTH, 1), nn.Conv2d(WIDTH, 1, 1)
    layers = nn.ModuleList([Spectral() for _ in range(4)])
    fields, wanted = torch.randn(16, 3, 256, 256), torch.randn(16, 1, 256, 256)
model = nn.ModuleList([first, layers, last])
optimizer = torch.optim.AdamW(model.parameters(), 1e-3)


def loss_of():
    out = first(fields)
    for layer in layers:
        out = nn.functional.gelu(layer(out))
    return (last(out) - wanted).square().mean()


steps.trained(optimizer, loss_of)
