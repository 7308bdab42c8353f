# SPDX-License-Identifier: Apache-2.0
"""Trains timm's EfficientNet-B3 in float16 with LAMB, mixup and a moving average of the weights."""
import timm
import timm.loss
import timm.optim
import torch
from timm.data.mixup import Mixup
from timm.utils import ModelEmaV3

model = timm.create_model("efficientnet_b3", drop_path_rate=0.2)
model = model.cuda().to(memory_format=torch.channels_last)
ema = ModelEmaV3(model, decay=0.999)
optimizer = timm.optim.create_optimizer_v2(model, "lamb", lr=1e-3, weight_decay=0.02)
scaler = torch.amp.GradScaler()
mixup = Mixup(0.8, 1.0, num_classes=1000, label_smoothing=0.1)
loss_of = timm.loss.SoftTargetCrossEntropy()
for step in range(6):
    images, labels = mixup(torch.randn(64, 3, 288, 288).cuda(),
                           torch.randint(1000, (64,)).cuda())
    with torch.autocast("cuda", torch.float16):
        loss = loss_of(model(images.to(memory_format=torch.channels_last)), labels)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    ema.update(model, step)
print(loss.item())
