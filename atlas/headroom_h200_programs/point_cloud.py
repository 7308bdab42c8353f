# SPDX-License-Identifier: Apache-2.0
"""Trains DGCNN's convolutions on the 20 nearest neighbours of 1,024 points."""
import steps
import torch
from torch import nn

NEAREST = 20


class EdgeConv(nn.Module):
    def __init__(self, width, to):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(2 * width, to, 1, bias=False), nn.BatchNorm2d(to),
                                  nn.LeakyReLU(0.2))

    def forward(self, x):
        batch, width, points = x.shape
        rows = x.transpose(1, 2)
        near = torch.cdist(rows, rows).topk(NEAREST, largest=False).indices
        index = near.reshape(batch, -1, 1).expand(-1, -1, width)
        found = rows.gather(1, index).view(batch, points, NEAREST, width)
        own = rows[:, :, None].expand_as(found)
        edges = torch.cat([found - own, own], 3).permute(0, 3, 1, 2).contiguous()
        return self.conv(edges).max(-1).values


torch.manual_seed(0)
with torch.device("cuda"):
    layers = nn.ModuleList([EdgeConv(3, 64), EdgeConv(64, 64), EdgeConv(64, 128),
                            EdgeConv(128, 256)])
    last = nn.Sequential(nn.Conv1d(512, 1024, 1, bias=False), nn.BatchNorm1d(1024),
                         nn.LeakyReLU(0.2), nn.AdaptiveMaxPool1d(1), nn.Flatten(),
                         nn.Linear(1024, 40))
    clouds, labels = torch.randn(32, 3, 1024), torch.randint(40, (32,))
optimizer = torch.optim.SGD([*layers.parameters(), *last.parameters()], 0.1, momentum=0.9)


def loss_of():
    found = [clouds]
    for layer in layers:
        found.append(layer(found[-1]))
    return nn.functional.cross_entropy(last(torch.cat(found[1:], 1)), labels)


steps.trained(optimizer, loss_of)
