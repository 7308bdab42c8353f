# SPDX-License-Identifier: Apache-2.0
"""Trains a network of torchvision with mixed precision, on random images.

Usage: torchvision_train.py [MODEL [BATCH]]   default: vit_b_16 32
"""
import sys

import torch
import torchvision

STEPS = 4
CLASSES = 1000

model_name = sys.argv[1] if len(sys.argv) > 1 else "vit_b_16"
batch = int(sys.argv[2]) if len(sys.argv) > 2 else 32

torch.manual_seed(1)
model = torchvision.models.get_model(model_name, num_classes=CLASSES).cuda()
images = torchvision.datasets.FakeData(
    STEPS * batch, (3, 224, 224), CLASSES, torchvision.transforms.ToTensor()
)
loader = torch.utils.data.DataLoader(images, batch, shuffle=True, num_workers=2, pin_memory=True)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
scaler = torch.amp.GradScaler("cuda")
criterion = torch.nn.CrossEntropyLoss(label_smoothing=0.1)

model.train()
for image, target in loader:
    image = image.cuda(non_blocking=True)
    target = target.cuda(non_blocking=True)
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(image), target)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()

print("allocated", torch.cuda.max_memory_allocated())
print("reserved", torch.cuda.max_memory_reserved())
