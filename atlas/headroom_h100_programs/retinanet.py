# SPDX-License-Identifier: Apache-2.0
"""Trains torchvision's RetinaNet on four images of 800 x 1,000 with two boxes each."""
import torch
from torchvision.models import detection

BOXES = [[10.0, 10.0, 300.0, 400.0], [50.0, 60.0, 500.0, 700.0]]

model = detection.retinanet_resnet50_fpn(weights=None, weights_backbone=None, num_classes=91)
model = model.cuda().train()
optimizer = torch.optim.SGD(model.parameters(), 1e-4)
images = [torch.rand(3, 800, 1000, device="cuda") for _ in range(4)]
targets = [{"boxes": torch.tensor(BOXES, device="cuda"),
            "labels": torch.tensor([1, 2], device="cuda")} for _ in range(4)]
for _ in range(4):
    loss = sum(model(images, targets).values())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
