# SPDX-License-Identifier: Apache-2.0
"""The transformer of Flux, six blocks of it, with DoRA of peft and checkpointed blocks."""
import torch
from diffusers import FluxTransformer2DModel
from peft import LoraConfig

with torch.device("cuda"):
    model = FluxTransformer2DModel(num_layers=2, num_single_layers=4, guidance_embeds=True)
model.to(torch.bfloat16)
model.requires_grad_(False)
model.enable_gradient_checkpointing()
model.add_adapter(LoraConfig(r=16, use_dora=True,
                             target_modules=["to_q", "to_k", "to_v", "to_out.0"]))
optimizer = torch.optim.AdamW([each for each in model.parameters() if each.requires_grad], 1e-4)
options = {"device": "cuda", "dtype": torch.bfloat16}
for _ in range(3):
    velocity = model(
        hidden_states=torch.randn(1, 4096, 64, **options),
        encoder_hidden_states=torch.randn(1, 512, 4096, **options),
        pooled_projections=torch.randn(1, 768, **options), timestep=torch.rand(1, **options),
        guidance=torch.ones(1, **options), img_ids=torch.zeros(4096, 3, **options),
        txt_ids=torch.zeros(512, 3, **options)).sample
    velocity.float().square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
