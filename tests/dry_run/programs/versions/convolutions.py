# SPDX-License-Identifier: Apache-2.0
"""Trains a residual network of convolutions: channels_last, mixed precision, SGD. The same for
every PyTorch since 2.1."""
import warnings

import torch
from torch import nn

WIDTHS = (64, 128, 256)
BLOCKS = 3  # of each width
BATCH = 32
STEPS = 3

warnings.simplefilter("ignore")  # newer versions want the scaler by another name


class Block(nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int):
        super().__init__()
        self.path = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(inplace=True),
            nn.Conv2d(outputs, outputs, 3, padding=1, groups=4, bias=False),
            nn.BatchNorm2d(outputs),
        )
        self.shortcut = nn.Conv2d(inputs, outputs, 1, stride)

    def forward(self, x):
        return torch.relu(self.path(x) + self.shortcut(x))


def make_network() -> nn.Module:
    blocks = [nn.Conv2d(3, WIDTHS[0], 7, stride=2, padding=3), nn.MaxPool2d(3, 2, 1)]
    inputs = WIDTHS[0]
    for width in WIDTHS:
        for index in range(BLOCKS):
            blocks.append(Block(inputs, width, 2 if index == 0 else 1))
            inputs = width
    return nn.Sequential(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 1000))


torch.manual_seed(1)
network = make_network().cuda().to(memory_format=torch.channels_last)
optimizer = torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
scaler = torch.cuda.amp.GradScaler()
for _ in range(STEPS):
    images = torch.rand(BATCH, 3, 224, 224).pin_memory().cuda(non_blocking=True)
    images = images.to(memory_format=torch.channels_last)
    labels = torch.randint(1000, (BATCH,), device="cuda")
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = nn.functional.cross_entropy(network(images), labels)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(network.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()

print("allocated", torch.cuda.max_memory_allocated())
print("reserved", torch.cuda.max_memory_reserved())

torch.cuda.empty_cache()
torch.cuda.reset_peak_memory_stats()
network(torch.rand(1, 3, 224, 224).cuda())
print("allocated_latest", torch.cuda.max_memory_allocated())
print("reserved_latest", torch.cuda.max_memory_reserved())
