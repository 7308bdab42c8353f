# SPDX-License-Identifier: Apache-2.0
"""Trains torchvision's ViT, compiled into CUDA graphs, under autocast in bfloat16."""
import torch
import torchvision

model = torchvision.models.vit_b_16().cuda()
optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
compiled = torch.compile(model, mode="reduce-overhead")
images = torch.randn(32, 3, 224, 224, device="cuda")
labels = torch.zeros(32, dtype=torch.long, device="cuda")
for _ in range(5):
    with torch.autocast("cuda", torch.bfloat16):
        loss = torch.nn.functional.cross_entropy(compiled(images), labels)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print(loss.item())
