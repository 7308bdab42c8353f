# SPDX-License-Identifier: Apache-2.0
"""Trains transformers' Llama with Liger's kernels, its loss fused with the last product."""
import steps
import torch
from liger_kernel.transformers import apply_liger_kernel_to_llama
from transformers import LlamaConfig, LlamaForCausalLM

apply_liger_kernel_to_llama()
torch.manual_seed(0)
with torch.device("cuda"):
    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=128256, hidden_size=2048, intermediate_size=8192, num_hidden_layers=8,
        num_attention_heads=32, num_key_value_heads=8)).bfloat16()
    tokens = torch.randint(128256, (4, 2048))
model.train()
model.gradient_checkpointing_enable()
optimizer = torch.optim.AdamW(model.parameters(), 1e-4)
steps.trained(optimizer, lambda: model(input_ids=tokens, labels=tokens).loss)
