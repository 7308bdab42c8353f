# SPDX-License-Identifier: Apache-2.0
"""torch.compile with max-autotune: Triton's kernels, templates and CUDA graphs."""
import torch
from torch import nn

layer = nn.TransformerEncoderLayer(768, 12, 3072, dropout=0.0, batch_first=True)
model = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False).to("cuda", torch.bfloat16)
step = torch.compile(model, mode="max-autotune")
optimizer = torch.optim.AdamW(model.parameters(), capturable=True)
for _ in range(4):
    step(torch.randn(16, 512, 768, device="cuda", dtype=torch.bfloat16)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
