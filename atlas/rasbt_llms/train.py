# SPDX-License-Identifier: Apache-2.0
"""Trains GPT-2 small with the settings of a row, each version of a script that was made faster step
by step (source.yaml)."""
import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

import rows

LENGTH, WIDTH, HEADS, LAYERS, DROPOUT = 1024, 768, 12, 12, 0.1
STEPS = 16  # from one look at the losses to the next, as the script takes its times


class Attention(nn.Module):
    """Written out, with its mask kept as floats or made each time."""

    def __init__(self, keeps_mask):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(3))
        self.out = nn.Linear(WIDTH, WIDTH)
        self.dropout = nn.Dropout(DROPOUT)
        if keeps_mask:
            mask = torch.triu(torch.ones(LENGTH, LENGTH), diagonal=1)
            self.register_buffer("mask", mask)
        self.keeps_mask = keeps_mask

    def forward(self, x):
        batch, count, _ = x.shape
        keys, queries, values = self.key(x), self.query(x), self.value(x)
        keys, values, queries = (one.view(batch, count, HEADS, -1).transpose(1, 2)
                                 for one in (keys, values, queries))
        scores = queries @ keys.transpose(2, 3)
        if self.keeps_mask:
            mask = self.mask.bool()[:count, :count]
        else:
            mask = torch.triu(torch.ones(count, count, dtype=torch.bool, device=x.device), 1)
        scores.masked_fill_(mask, -torch.inf)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)
        weights = self.dropout(weights)
        mixed = (weights @ values).transpose(1, 2)
        mixed = mixed.reshape(batch, count, WIDTH)
        return self.out(mixed)


class FusedAttention(nn.Module):
    """PyTorch's, with one layer for queries, keys and values."""

    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        batch, count, _ = x.shape
        qkv = self.qkv(x).view(batch, count, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        queries, keys, values = qkv
        mixed = F.scaled_dot_product_attention(queries, keys, values, is_causal=True,
                                               dropout_p=DROPOUT if self.training else 0.0)
        return self.out(mixed.transpose(1, 2).contiguous().view(batch, count, WIDTH))


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))

    def forward(self, x):
        mean = x.mean(dim=-1, keepdim=True)
        variance = x.var(dim=-1, keepdim=True, unbiased=False)
        normed = (x - mean) / torch.sqrt(variance + 1e-5)
        return self.scale * normed + self.shift


class Gelu(nn.Module):
    def forward(self, x):
        return 0.5 * x * (1 + torch.tanh(torch.sqrt(torch.tensor(2.0 / torch.pi))
                                         * (x + 0.044715 * torch.pow(x, 3))))


class Block(nn.Module):
    def __init__(self, row):
        super().__init__()
        norm = nn.LayerNorm if row["native"] else Norm
        gelu = nn.GELU(approximate="tanh") if row["native"] else Gelu()
        self.attention = FusedAttention() if row["flash"] else Attention(bool(row["keeps_mask"]))
        self.wide = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), gelu, nn.Linear(4 * WIDTH, WIDTH))
        self.first, self.second, self.dropout = norm(WIDTH), norm(WIDTH), nn.Dropout(DROPOUT)

    def forward(self, x):
        shortcut = x
        x = self.dropout(self.attention(self.first(x)))
        x = x + shortcut
        shortcut = x
        x = self.dropout(self.wide(self.second(x)))
        return x + shortcut


class Model(nn.Module):
    def __init__(self, row):
        super().__init__()
        words = int(row["words"])
        self.words, self.places = nn.Embedding(words, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.dropout = nn.Dropout(DROPOUT)
        self.blocks = nn.Sequential(*[Block(row) for _ in range(LAYERS)])
        self.norm = (nn.LayerNorm if row["native"] else Norm)(WIDTH)
        self.head = nn.Linear(WIDTH, words, bias=False)

    def forward(self, ids):
        words = self.words(ids)
        places = self.places(torch.arange(ids.shape[1], device=ids.device))
        x = words + places
        return self.head(self.norm(self.blocks(self.dropout(x))))


def loss_of(model, row):
    ids = torch.zeros(2, int(row["batch"]), LENGTH, dtype=torch.long)
    ids, labels = (ids.pin_memory() if row["pinned"] else ids).cuda()
    logits = model(ids)
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten())


@torch.no_grad()
def look(model, row):
    """The losses of a batch for training and of one for validation."""
    model.eval()
    for _ in range(2):
        loss_of(model, row).item()
    model.train()


def train(model, row):
    if row["tensor_cores"]:
        torch.set_float32_matmul_precision("high")
    if row["compiled"]:
        model = torch.compile(model)
    model.cuda()
    if row["half"]:
        model.to(torch.bfloat16)
    if row["ranks"] != "1":
        # Rank 0 alone: the store holds what it would tell the others.
        dist.init_process_group("nccl", store=dist.HashStore(), rank=0,
                                world_size=int(row["ranks"]))
        model = DistributedDataParallel(model, device_ids=[0])
    fused = {"fused": True} if row["fused"] else {}
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4, weight_decay=0.1, **fused)
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = loss_of(model, row)
        loss.backward()
        optimizer.step()
        if step == 0:
            look(model, row)


rows.each(Model, train, group="model")
