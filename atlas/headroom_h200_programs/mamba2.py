# SPDX-License-Identifier: Apache-2.0
"""Trains transformers' Mamba 2 by PyTorch's own operators."""
import steps
import torch
from transformers import Mamba2Config, Mamba2ForCausalLM

torch.manual_seed(0)
with torch.device("cuda"):
    model = Mamba2ForCausalLM(Mamba2Config(
        vocab_size=32000, hidden_size=768, num_heads=24, head_dim=64, n_groups=1,
        state_size=128, num_hidden_layers=8)).bfloat16()
    tokens = torch.randint(32000, (4, 1024))
model.train()
optimizer = torch.optim.AdamW(model.parameters(), 1e-4)
steps.trained(optimizer, lambda: model(input_ids=tokens, labels=tokens).loss)
