# SPDX-License-Identifier: Apache-2.0
"""Trains transformers' ViT by Accelerate in float16, two batches to a step."""
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset
from transformers import ViTConfig, ViTForImageClassification

accelerator = Accelerator(mixed_precision="fp16", gradient_accumulation_steps=2)
model = ViTForImageClassification(ViTConfig(num_labels=100))
optimizer = torch.optim.AdamW(model.parameters(), 1e-4)
data = TensorDataset(torch.randn(256, 3, 224, 224), torch.randint(100, (256,)))
model, optimizer, loader = accelerator.prepare(model, optimizer, DataLoader(data, 32))
for images, labels in loader:
    with accelerator.accumulate(model):
        loss = model(images, labels=labels).loss
        accelerator.backward(loss)
        if accelerator.sync_gradients:
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
print(loss.item())
