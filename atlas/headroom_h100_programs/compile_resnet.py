# SPDX-License-Identifier: Apache-2.0
"""Trains torchvision's ResNet-50, compiled, the channels last, under autocast in bfloat16."""
import torch
import torchvision

model = torchvision.models.resnet50().cuda().to(memory_format=torch.channels_last)
optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
compiled = torch.compile(model)
images = torch.randn(64, 3, 224, 224, device="cuda").to(memory_format=torch.channels_last)
labels = torch.zeros(64, dtype=torch.long, device="cuda")
for _ in range(4):
    with torch.autocast("cuda", torch.bfloat16):
        loss = torch.nn.functional.cross_entropy(compiled(images), labels)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print(loss.item())
