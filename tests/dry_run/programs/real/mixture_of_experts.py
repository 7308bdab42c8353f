# SPDX-License-Identifier: Apache-2.0
"""Qwen3's mixture of experts of transformers, which sends tokens to 32 experts in a loop."""
import torch
from transformers import Qwen3MoeConfig, Qwen3MoeForCausalLM

config = Qwen3MoeConfig(vocab_size=8000, hidden_size=1024, moe_intermediate_size=512,
                        num_hidden_layers=4, num_attention_heads=16, num_key_value_heads=4,
                        head_dim=64, num_experts=32, num_experts_per_tok=4,
                        experts_implementation="eager")
model = Qwen3MoeForCausalLM(config).to("cuda", torch.bfloat16)
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(2):
    tokens = torch.randint(8000, (8, 1024), device="cuda")
    model(input_ids=tokens, labels=tokens).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
