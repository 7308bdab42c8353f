# SPDX-License-Identifier: Apache-2.0
"""Trains a graph network by products with a sparse matrix of 1,000,000 edges."""
import steps
import torch
from torch import nn

NODES, EDGES = 100_000, 1_000_000
torch.manual_seed(0)
with torch.device("cuda"):
    edges = torch.randint(NODES, (2, EDGES))
    matrix = torch.sparse_coo_tensor(edges, torch.full((EDGES,), 0.1), (NODES, NODES)).coalesce()
    layers = nn.ModuleList([nn.Linear(256, 256) for _ in range(4)])
    last = nn.Linear(256, 40)
    x, labels = torch.randn(NODES, 256), torch.randint(40, (NODES,))
optimizer = torch.optim.Adam([*layers.parameters(), *last.parameters()], 1e-2)


def loss_of():
    out = x
    for layer in layers:
        out = torch.relu(torch.sparse.mm(matrix, layer(out)))
    return nn.functional.cross_entropy(last(out), labels)


steps.trained(optimizer, loss_of)
