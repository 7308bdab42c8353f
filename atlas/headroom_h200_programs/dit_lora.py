# SPDX-License-Identifier: Apache-2.0
"""Trains an adapter of peft on diffusers' DiT in bfloat16."""
import steps
import torch
from diffusers import DiTTransformer2DModel
from peft import LoraConfig, get_peft_model

torch.manual_seed(0)
with torch.device("cuda"):
    model = DiTTransformer2DModel(sample_size=64).bfloat16()
    latents = torch.randn(16, 4, 64, 64, dtype=torch.bfloat16)
    times, labels = torch.randint(1000, (16,)), torch.randint(1000, (16,))
model = get_peft_model(model, LoraConfig(
    r=16, target_modules=["to_q", "to_k", "to_v", "to_out.0"]))
model.train()
trained = [weight for weight in model.parameters() if weight.requires_grad]
optimizer = torch.optim.AdamW(trained, 1e-4)
steps.trained(optimizer, lambda: model(latents, times, class_labels=labels).sample.float()
              .square().mean())
