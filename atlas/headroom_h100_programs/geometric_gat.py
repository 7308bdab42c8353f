# SPDX-License-Identifier: Apache-2.0
"""Trains a graph network of PyTorch Geometric on 50,000 nodes and 500,000 edges."""
import torch
from torch_geometric.nn import GATConv, GCNConv

NODES, EDGES = 50000, 500000


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = GCNConv(128, 256)
        self.middle = GATConv(256, 64, heads=4)
        self.last = GCNConv(256, 40)

    def forward(self, x, edges):
        return self.last(
            torch.relu(self.middle(torch.relu(self.first(x, edges)), edges)), edges)


x = torch.randn(NODES, 128, device="cuda")
edges = torch.stack([torch.arange(EDGES) * 7919 % NODES,
                     torch.arange(EDGES) * 104729 % NODES]).cuda()
labels = torch.randint(40, (NODES,), device="cuda")
model = Net().cuda()
optimizer = torch.optim.Adam(model.parameters(), 0.01)
for _ in range(5):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x, edges), labels)
    loss.backward()
    optimizer.step()
print(loss.item())
