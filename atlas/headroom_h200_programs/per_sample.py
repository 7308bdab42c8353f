# SPDX-License-Identifier: Apache-2.0
"""Clips the gradient of each sample by functional transforms of PyTorch."""
import steps
import torch
from torch import nn
from torch.func import functional_call, grad, vmap

torch.manual_seed(0)
with torch.device("cuda"):
    model = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                          nn.Conv2d(64, 128, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                          nn.Flatten(), nn.Linear(128 * 64, 256), nn.ReLU(), nn.Linear(256, 10))
    images, labels = torch.randn(256, 3, 32, 32), torch.randint(10, (256,))
optimizer = torch.optim.SGD(model.parameters(), 1e-2)


def loss_of_one(weights, image, label):
    out = functional_call(model, weights, (image[None],))
    return nn.functional.cross_entropy(out, label[None])


def step():
    weights = {name: weight.detach() for name, weight in model.named_parameters()}
    of_each = vmap(grad(loss_of_one), (None, 0, 0))(weights, images, labels)
    norms = torch.stack([each.flatten(1).norm(dim=1) for each in of_each.values()]).norm(dim=0)
    scale = (1.0 / norms).clamp(max=1.0)
    for name, weight in model.named_parameters():
        weight.grad = torch.einsum("i,i...->...", scale, of_each[name]) / len(images)
    optimizer.step()
    return norms.mean()


steps.run(step)
