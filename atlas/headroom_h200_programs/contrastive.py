# SPDX-License-Identifier: Apache-2.0
"""Trains transformers' CLIP: images against texts, all pairs of a batch."""
import steps
import torch
from transformers import CLIPConfig, CLIPModel

torch.manual_seed(0)
with torch.device("cuda"):
    model = CLIPModel(CLIPConfig()).train()
    images, texts = torch.randn(128, 3, 224, 224), torch.randint(49000, (128, 77))
optimizer = torch.optim.AdamW(model.parameters(), 1e-5, foreach=False)


def loss_of():
    with torch.autocast("cuda", torch.bfloat16):
        return model(input_ids=texts, pixel_values=images, return_loss=True).loss


steps.trained(optimizer, loss_of)
