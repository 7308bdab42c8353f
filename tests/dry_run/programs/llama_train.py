# SPDX-License-Identifier: Apache-2.0
"""Trains a Llama of transformers in bfloat16: llama_mini with two layers, 4 texts of 512 tokens."""
import torch
from transformers import LlamaConfig, LlamaForCausalLM

torch.manual_seed(1)
model = LlamaForCausalLM(LlamaConfig(
    num_hidden_layers=2, num_attention_heads=4, hidden_size=256, num_key_value_heads=2,
    intermediate_size=1024, vocab_size=32000, max_position_embeddings=131072, rms_norm_eps=1e-5,
    tie_word_embeddings=True, use_cache=False, rope_parameters={
        "rope_type": "llama3", "rope_theta": 500000.0, "factor": 32.0, "low_freq_factor": 1.0,
        "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}))
model.train().to("cuda").to(torch.bfloat16)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, foreach=True)
for _ in range(3):
    tokens = torch.randint(100, 30000, (4, 512))
    labels = torch.nn.functional.pad(tokens, (0, 1), value=-100)[:, 1:].contiguous().cuda()
    logits = model(tokens.cuda()).logits
    loss = torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), labels.flatten())
    del logits
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()

print("allocated", torch.cuda.max_memory_allocated())
