# SPDX-License-Identifier: Apache-2.0
"""Trains PyTorch Geometric's transformer convolutions on batches of molecules."""
import steps
import torch
from torch_geometric.nn import TransformerConv, global_mean_pool

MOLECULES, ATOMS, BONDS = 512, 24, 52
torch.manual_seed(0)
with torch.device("cuda"):
    layers = torch.nn.ModuleList(
        [TransformerConv(128, 32, heads=4, edge_dim=16, beta=True) for _ in range(6)])
    last = torch.nn.Linear(128, 1)
    x = torch.randn(MOLECULES * ATOMS, 128)
    molecule = torch.arange(MOLECULES).repeat_interleave(ATOMS)
    bonds = (torch.randint(ATOMS, (2, MOLECULES, BONDS))
             + ATOMS * torch.arange(MOLECULES)[:, None]).view(2, -1)
    kinds = torch.randn(MOLECULES * BONDS, 16)
    wanted = torch.randn(MOLECULES, 1)
optimizer = torch.optim.AdamW([*layers.parameters(), *last.parameters()], 1e-3)


def loss_of():
    out = x
    for layer in layers:
        out = out + torch.relu(layer(out, bonds, kinds))
    return (last(global_mean_pool(out, molecule)) - wanted).square().mean()


steps.trained(optimizer, loss_of)
