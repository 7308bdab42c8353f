# SPDX-License-Identifier: Apache-2.0
"""EfficientNetV2 of timm: channels_last, mixed precision, RMSprop, an average of the weights."""
import timm
import torch
from timm.data import Mixup
from timm.loss import SoftTargetCrossEntropy
from timm.optim import create_optimizer_v2
from timm.utils import ModelEmaV3, NativeScaler

model = timm.create_model("tf_efficientnetv2_s", num_classes=1000, drop_path_rate=0.2)
model = model.to("cuda", memory_format=torch.channels_last)
average = ModelEmaV3(model, decay=0.999)
optimizer = create_optimizer_v2(model, opt="rmsproptf", lr=0.01, weight_decay=1e-5)
mixup = Mixup(mixup_alpha=0.2, cutmix_alpha=1.0, num_classes=1000)
loss_of, scaler = SoftTargetCrossEntropy(), NativeScaler()
for step in range(3):
    images = torch.randn(64, 3, 300, 300).to("cuda", memory_format=torch.channels_last)
    images, target = mixup(images, torch.randint(0, 1000, (64,), device="cuda"))
    with torch.autocast("cuda", torch.float16):
        loss = loss_of(model(images), target)
    scaler(loss, optimizer, parameters=model.parameters(), clip_grad=1.0)
    optimizer.zero_grad()
    average.update(model, step=step)
