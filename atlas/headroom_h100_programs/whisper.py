# SPDX-License-Identifier: Apache-2.0
"""Trains transformers' Whisper, of the small size, under autocast in float16."""
import torch
from transformers import WhisperConfig, WhisperForConditionalGeneration

config = WhisperConfig(
    d_model=768, encoder_layers=12, decoder_layers=12, encoder_attention_heads=12,
    decoder_attention_heads=12, encoder_ffn_dim=3072, decoder_ffn_dim=3072)
with torch.device("cuda"):
    model = WhisperForConditionalGeneration(config)
model.train()
optimizer = torch.optim.AdamW(model.parameters(), 1e-5)
for _ in range(4):
    with torch.autocast("cuda", torch.float16):
        loss = model(input_features=torch.randn(8, 80, 3000, device="cuda"),
                     labels=torch.randint(50000, (8, 128), device="cuda")).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print(loss.item())
