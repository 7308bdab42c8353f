# SPDX-License-Identifier: Apache-2.0
"""Generates texts by a Llama of transformers in bfloat16: the likeliest, then drawn ones."""
import torch
from transformers import LlamaConfig, LlamaForCausalLM

config = LlamaConfig(hidden_size=2048, num_hidden_layers=16, num_attention_heads=32,
                     num_key_value_heads=8, intermediate_size=8192, vocab_size=32000)
with torch.device("cuda"):
    model = LlamaForCausalLM(config).bfloat16().eval()
tokens = torch.randint(32000, (8, 512), device="cuda")
length = {"max_new_tokens": 64, "eos_token_id": None, "pad_token_id": 0}
texts = model.generate(tokens, do_sample=False, **length)
print(texts.shape)
texts = model.generate(tokens, do_sample=True, top_k=50, top_p=0.9, **length)
print(texts.shape)
