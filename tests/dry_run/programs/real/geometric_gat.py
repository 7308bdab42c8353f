# SPDX-License-Identifier: Apache-2.0
"""Graph attention and convolutions of PyTorch Geometric on a random graph."""
import torch
from torch_geometric.nn import GATv2Conv, GCNConv, GraphNorm
from torch_geometric.utils import dropout_edge

NODES, EDGES, FEATURES = 100_000, 1_000_000, 128


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = GCNConv(FEATURES, 256)
        self.second = GATv2Conv(256, 64, heads=4)
        self.norm = GraphNorm(256)
        self.last = GATv2Conv(256, 40, heads=1)

    def forward(self, nodes, edges):
        edges, _ = dropout_edge(edges, p=0.1, training=False)
        nodes = self.first(nodes, edges).relu()
        return self.last(self.norm(self.second(nodes, edges)).relu(), edges)


network = Network().cuda()
nodes = torch.randn(NODES, FEATURES).cuda()
edges = torch.randint(0, NODES, (2, EDGES)).cuda()
labels = torch.randint(0, 40, (NODES,)).cuda()
optimizer = torch.optim.Adam(network.parameters(), lr=0.01, weight_decay=5e-4)
for _ in range(3):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(network(nodes, edges), labels).backward()
    optimizer.step()
