# SPDX-License-Identifier: Apache-2.0
"""Trains diffusers' U-Net of Stable Diffusion 1.5 with checkpointing, under autocast in float16."""
import steps
import torch
from diffusers import UNet2DConditionModel

torch.manual_seed(0)
with torch.device("cuda"):
    model = UNet2DConditionModel(sample_size=64, cross_attention_dim=768)
    latents, noise = torch.randn(8, 4, 64, 64), torch.randn(8, 4, 64, 64)
    times = torch.randint(1000, (8,))
    text = torch.randn(8, 77, 768)
model.train()
model.enable_gradient_checkpointing()
optimizer = torch.optim.AdamW(model.parameters(), 1e-5)
scaler = torch.amp.GradScaler()


def step():
    with torch.autocast("cuda", torch.float16):
        out = model(latents, times, encoder_hidden_states=text).sample
        loss = torch.nn.functional.mse_loss(out.float(), noise)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
    return loss.detach()


steps.run(step)
