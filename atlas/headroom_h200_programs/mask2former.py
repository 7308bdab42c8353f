# SPDX-License-Identifier: Apache-2.0
"""Trains transformers' Mask2Former, whose masks are assigned on the host."""
import steps
import torch
from transformers import Mask2FormerConfig, Mask2FormerForUniversalSegmentation

torch.manual_seed(0)
model = Mask2FormerForUniversalSegmentation(Mask2FormerConfig(num_labels=20)).cuda()
with torch.device("cuda"):
    images = torch.randn(4, 3, 384, 384)
    masks = [(torch.rand(6, 384, 384) > 0.5).float() for _ in range(4)]
    classes = [torch.arange(6) + of for of in range(4)]
model.train()
optimizer = torch.optim.AdamW(model.parameters(), 1e-4)
steps.trained(optimizer, lambda: model(
    pixel_values=images, mask_labels=masks, class_labels=classes).loss)
