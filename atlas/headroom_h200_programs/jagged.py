# SPDX-License-Identifier: Apache-2.0
"""Trains layers on sequences that differ in length, as nested tensors without padding."""
import steps
import torch
from torch import nn

WIDTH, HEADS = 768, 12


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv = nn.ModuleList([nn.Linear(WIDTH, WIDTH) for _ in range(3)])
        self.out = nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(),
                                 nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        normed = self.norm(x)
        q, k, v = (part(normed).unflatten(-1, [HEADS, WIDTH // HEADS]).transpose(1, 2)
                   for part in self.qkv)
        attended = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).flatten(-2))
        return x + self.mlp(self.second(x))


torch.manual_seed(0)
with torch.device("cuda"):
    blocks = nn.ModuleList([Block() for _ in range(12)]).bfloat16()
    sequences = [torch.randn(64 + 60 * index, WIDTH, dtype=torch.bfloat16)
                 for index in range(32)]
    x = torch.nested.nested_tensor(sequences, layout=torch.jagged)
optimizer = torch.optim.AdamW(blocks.parameters(), 1e-4)


def loss_of():
    out = x
    for block in blocks:
        out = block(out)
    return out.values().float().square().mean()


steps.trained(optimizer, loss_of)
