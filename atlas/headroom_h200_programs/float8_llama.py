# SPDX-License-Identifier: Apache-2.0
"""Trains a decoder with torchao's linear layers in float8."""
import steps
import torch
from torch import nn
from torchao.float8 import convert_to_float8_training

torch.manual_seed(0)
with torch.device("cuda"):
    layer = nn.TransformerEncoderLayer(2048, 16, 8192, dropout=0.0, batch_first=True,
                                       norm_first=True, activation="gelu")
    model = nn.TransformerEncoder(layer, 12, enable_nested_tensor=False).bfloat16()
    x = torch.randn(8, 2048, 2048, dtype=torch.bfloat16)
convert_to_float8_training(
    model, module_filter_fn=lambda module, name: name.endswith(("linear1", "linear2")))
optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
steps.trained(optimizer, lambda: model(x).float().square().mean())
