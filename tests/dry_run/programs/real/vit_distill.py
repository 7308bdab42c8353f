# SPDX-License-Identifier: Apache-2.0
"""A ViT of vit-pytorch that learns from a ResNet-50, under schedule-free AdamW."""
import torch
from schedulefree import AdamWScheduleFree
from torchvision.models import resnet50
from vit_pytorch.distill import DistillableViT, DistillWrapper

student = DistillableViT(image_size=224, patch_size=16, num_classes=1000, dim=768, depth=12,
                         heads=12, mlp_dim=3072, dropout=0.1)
wrapper = DistillWrapper(student=student, teacher=resnet50(), temperature=3, alpha=0.5).cuda()
optimizer = AdamWScheduleFree(student.parameters(), lr=1e-3, warmup_steps=10)
optimizer.train()
for _ in range(3):
    images = torch.randn(32, 3, 224, 224, device="cuda")
    wrapper(images, torch.randint(0, 1000, (32,), device="cuda")).backward()
    optimizer.step()
    optimizer.zero_grad()
