# SPDX-License-Identifier: Apache-2.0
"""FCOS of torchvision on two images."""
import torch
from torchvision.models.detection import fcos_resnet50_fpn

images = [torch.rand(3, 480, 640, device="cuda") for _ in range(2)]
target = {"boxes": torch.tensor([[20.0, 30.0, 200.0, 300.0], [5.0, 5.0, 90.0, 70.0]]).cuda(),
          "labels": torch.ones(2, dtype=torch.int64).cuda()}
model = fcos_resnet50_fpn(weights=None, weights_backbone=None, num_classes=2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, nesterov=True)
for _ in range(2):
    sum(model(images, [target] * 2).values()).backward()
    optimizer.step()
    optimizer.zero_grad()
