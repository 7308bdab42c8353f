# SPDX-License-Identifier: Apache-2.0
"""A feed-forward network in float8 with torchao's AdamW of 8 bits."""
import torch
from torch import nn
from torchao.float8 import convert_to_float8_training
from torchao.optim import AdamW8bit

layers = [nn.Sequential(nn.Linear(4096, 16384), nn.GELU(), nn.Linear(16384, 4096))
          for _ in range(4)]
model = nn.Sequential(*layers).to("cuda", torch.bfloat16)
convert_to_float8_training(model)
optimizer = AdamW8bit(model.parameters(), lr=1e-4)
for _ in range(3):
    model(torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
