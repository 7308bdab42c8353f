# SPDX-License-Identifier: Apache-2.0
"""Trains layers of attention over packed documents by PyTorch's compiled flex_attention."""
import steps
import torch
from torch import nn
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

BATCH, LENGTH, WIDTH, HEADS, DOCUMENT = 4, 4096, 1024, 16, 512
attend = torch.compile(flex_attention)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(),
                                 nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x, mask):
        q, k, v = (part.view(BATCH, LENGTH, HEADS, -1).transpose(1, 2)
                   for part in self.qkv(self.norm(x)).chunk(3, -1))
        attended = attend(q, k, v, block_mask=mask).transpose(1, 2).reshape(x.shape)
        x = x + self.out(attended)
        return x + self.mlp(self.second(x))


def within_document(batch, head, query, key):
    return (query >= key) & (query // DOCUMENT == key // DOCUMENT)


torch.manual_seed(0)
with torch.device("cuda"):
    blocks = nn.ModuleList([Block() for _ in range(8)]).bfloat16()
    x = torch.randn(BATCH, LENGTH, WIDTH, dtype=torch.bfloat16)
mask = create_block_mask(within_document, None, None, LENGTH, LENGTH, device="cuda")
optimizer = torch.optim.AdamW(blocks.parameters(), 1e-4)


def loss_of():
    out = x
    for block in blocks:
        out = block(out, mask)
    return out.float().square().mean()


steps.trained(optimizer, loss_of)
