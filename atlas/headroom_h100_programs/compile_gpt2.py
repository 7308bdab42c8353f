# SPDX-License-Identifier: Apache-2.0
"""Trains transformers' GPT-2, compiled, under autocast in bfloat16."""
import torch
from transformers import GPT2Config, GPT2LMHeadModel

with torch.device("cuda"):
    model = GPT2LMHeadModel(GPT2Config())
model.train()
optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
compiled = torch.compile(model)
tokens = torch.randint(50000, (8, 1024), device="cuda")
for _ in range(4):
    with torch.autocast("cuda", torch.bfloat16):
        loss = compiled(input_ids=tokens, labels=tokens).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print(loss.item())
