# SPDX-License-Identifier: Apache-2.0
"""Trains transformers' Qwen3 with 16 experts, which asks on the host which of them get tokens."""
import steps
import torch
from transformers import Qwen3MoeConfig, Qwen3MoeForCausalLM

config = Qwen3MoeConfig(
    vocab_size=32000, hidden_size=1024, intermediate_size=2048, moe_intermediate_size=768,
    num_hidden_layers=8, num_attention_heads=16, num_key_value_heads=4, head_dim=64,
    num_experts=16, num_experts_per_tok=4)
config._experts_implementation = "eager"
torch.manual_seed(0)
with torch.device("cuda"):
    model = Qwen3MoeForCausalLM(config).bfloat16()
    tokens = torch.randint(32000, (8, 1024))
model.train()
optimizer = torch.optim.AdamW(model.parameters(), 1e-4)
steps.trained(optimizer, lambda: model(input_ids=tokens, labels=tokens).loss)
