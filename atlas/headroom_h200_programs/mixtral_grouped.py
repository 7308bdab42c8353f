# SPDX-License-Identifier: Apache-2.0
"""Trains transformers' Mixtral with 8 experts by grouped products, under autocast in bfloat16."""
import steps
import torch
from transformers import MixtralConfig, MixtralForCausalLM

config = MixtralConfig(
    vocab_size=32000, hidden_size=1024, intermediate_size=2816, num_hidden_layers=8,
    num_attention_heads=16, num_key_value_heads=8, num_local_experts=8, num_experts_per_tok=2)
config._experts_implementation = "grouped_mm"
torch.manual_seed(0)
with torch.device("cuda"):
    model = MixtralForCausalLM(config)
    tokens = torch.randint(32000, (8, 1024))
model.train()
optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)


def loss_of():
    with torch.autocast("cuda", torch.bfloat16):
        return model(input_ids=tokens, labels=tokens).loss


steps.trained(optimizer, loss_of)
