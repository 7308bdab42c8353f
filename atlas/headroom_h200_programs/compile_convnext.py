# SPDX-License-Identifier: Apache-2.0
"""Trains torchvision's ConvNeXt, compiled, channels last, under autocast in bfloat16."""
import steps
import torch
import torchvision

torch.manual_seed(0)
with torch.device("cuda"):
    model = torchvision.models.convnext_small(num_classes=1000)
    images = torch.randn(64, 3, 224, 224)
    labels = torch.randint(1000, (64,))
model = model.to(memory_format=torch.channels_last).train()
images = images.to(memory_format=torch.channels_last)
optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
compiled = torch.compile(model)


def loss_of():
    with torch.autocast("cuda", torch.bfloat16):
        return torch.nn.functional.cross_entropy(compiled(images), labels)


steps.trained(optimizer, loss_of)
