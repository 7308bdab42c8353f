# SPDX-License-Identifier: Apache-2.0
"""Generates by transformers' Llama with a static cache, one token a step, compiled with graphs."""
import steps
import torch
from transformers import LlamaConfig, LlamaForCausalLM, StaticCache

config = LlamaConfig(vocab_size=32000, hidden_size=2048, intermediate_size=5632,
                     num_hidden_layers=12, num_attention_heads=32, num_key_value_heads=8)
torch.manual_seed(0)
with torch.device("cuda"):
    model = LlamaForCausalLM(config).bfloat16().eval()
    token = torch.randint(32000, (16, 1))
    position = torch.tensor([512])
cache = StaticCache(config=config, max_cache_len=2048)
compiled = torch.compile(model, mode="reduce-overhead")


@torch.no_grad()
def step():
    logits = compiled(input_ids=token, past_key_values=cache, cache_position=position).logits
    token.copy_(logits[:, -1:].argmax(-1))
    position.add_(1)
    return position[0]


steps.run(step)
