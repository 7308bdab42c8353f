# SPDX-License-Identifier: Apache-2.0
"""Trains transformers' Llama, compiled whole, in bfloat16, with a fused AdamW."""
import steps
import torch
from transformers import LlamaConfig, LlamaForCausalLM

torch.manual_seed(0)
with torch.device("cuda"):
    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=32000, hidden_size=2048, intermediate_size=5632, num_hidden_layers=12,
        num_attention_heads=32, num_key_value_heads=8)).bfloat16()
    tokens = torch.randint(32000, (4, 2048))
model.train()
optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
compiled = torch.compile(model)
steps.trained(optimizer, lambda: compiled(input_ids=tokens, labels=tokens).loss)
