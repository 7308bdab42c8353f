# SPDX-License-Identifier: Apache-2.0
"""Trains bags of embeddings with sparse gradients, as recommenders do."""
import steps
import torch
from torch import nn

FIELDS, ROWS, BATCH = 16, 1_000_000, 8192
torch.manual_seed(0)
with torch.device("cuda"):
    bags = nn.ModuleList([nn.EmbeddingBag(ROWS, 64, mode="sum", sparse=True)
                          for _ in range(FIELDS)])
    top = nn.Sequential(nn.Linear(FIELDS * 64, 1024), nn.ReLU(), nn.Linear(1024, 1))
    chosen = torch.randint(ROWS, (FIELDS, BATCH, 8))
    clicked = torch.randint(2, (BATCH, 1)).float()
of_bags = torch.optim.SparseAdam(list(bags.parameters()), 1e-3)
of_top = torch.optim.Adam(top.parameters(), 1e-3)


def step():
    found = torch.cat([bag(rows) for bag, rows in zip(bags, chosen)], 1)
    loss = nn.functional.binary_cross_entropy_with_logits(top(found), clicked)
    loss.backward()
    for optimizer in (of_bags, of_top):
        optimizer.step()
        optimizer.zero_grad()
    return loss.detach()


steps.run(step)
