# SPDX-License-Identifier: Apache-2.0
"""Trains e3nn's layers, equivariant under rotations, on 20,000 edges: TorchScript of its making."""
import steps
import torch
from e3nn import o3

EDGES, NODES = 20000, 2000
torch.manual_seed(0)
features = o3.Irreps("32x0e + 32x1o + 16x2e")
harmonics = o3.Irreps.spherical_harmonics(2)
with torch.device("cuda"):
    product = o3.FullyConnectedTensorProduct(features, harmonics, features,
                                             shared_weights=False).cuda()
    weights = torch.nn.Sequential(torch.nn.Linear(8, 64), torch.nn.SiLU(),
                                  torch.nn.Linear(64, product.weight_numel))
    mix = o3.Linear(features, features).cuda()
    x = torch.randn(NODES, features.dim)
    radial, vectors = torch.randn(EDGES, 8), torch.randn(EDGES, 3)
    source, target = torch.randint(NODES, (EDGES,)), torch.randint(NODES, (EDGES,))
optimizer = torch.optim.Adam([*weights.parameters(), *mix.parameters()], 1e-3)


def loss_of():
    on_sphere = o3.spherical_harmonics(harmonics, vectors, normalize=True)
    messages = product(x[source], on_sphere, weights(radial))
    return mix(torch.zeros_like(x).index_add(0, target, messages)).square().mean()


steps.trained(optimizer, loss_of)
