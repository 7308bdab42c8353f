# SPDX-License-Identifier: Apache-2.0
"""Trains torchvision's R(2+1)D on videos of 16 frames, under autocast in float16."""
import steps
import torch
import torchvision

torch.manual_seed(0)
with torch.device("cuda"):
    model = torchvision.models.video.r2plus1d_18(num_classes=400).train()
    videos, labels = torch.randn(16, 3, 16, 112, 112), torch.randint(400, (16,))
optimizer = torch.optim.SGD(model.parameters(), 1e-3, momentum=0.9)
scaler = torch.amp.GradScaler()


def step():
    with torch.autocast("cuda", torch.float16):
        loss = torch.nn.functional.cross_entropy(model(videos), labels)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
    return loss.detach()


steps.run(step)
