# SPDX-License-Identifier: Apache-2.0
"""Two networks in turns under Lightning Fabric, which `fabric run` starts."""
import lightning.fabric
import torch
from torch import nn

fabric = lightning.fabric.Fabric()
make = nn.Sequential(
    nn.ConvTranspose2d(128, 512, 4), nn.BatchNorm2d(512), nn.ReLU(),
    nn.ConvTranspose2d(512, 256, 4, 2, 1), nn.BatchNorm2d(256), nn.ReLU(),
    nn.ConvTranspose2d(256, 128, 4, 2, 1), nn.BatchNorm2d(128), nn.ReLU(),
    nn.ConvTranspose2d(128, 3, 4, 2, 1), nn.Tanh())
judge = nn.Sequential(
    nn.Conv2d(3, 128, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(128, 256, 4, 2, 1),
    nn.GroupNorm(8, 256), nn.LeakyReLU(0.2), nn.Conv2d(256, 1, 8), nn.Flatten(0))
make, makes = fabric.setup(make, torch.optim.Adam(make.parameters(), 2e-4, betas=(0.5, 0.999)))
judge, judges = fabric.setup(judge, torch.optim.Adam(judge.parameters(), 2e-4, betas=(0.5, 0.999)))
loss = nn.BCEWithLogitsLoss()
for _ in range(3):
    real = torch.randn(256, 3, 32, 32, device=fabric.device)
    fake = make(torch.randn(256, 128, 1, 1, device=fabric.device))
    seen, imagined = judge(real), judge(fake.detach())
    fabric.backward(loss(seen, torch.ones_like(seen)) + loss(imagined, torch.zeros_like(imagined)))
    judges.step()
    judges.zero_grad()
    seen = judge(fake)
    fabric.backward(loss(seen, torch.ones_like(seen)))
    makes.step()
    makes.zero_grad()
