# SPDX-License-Identifier: Apache-2.0
"""Trains LoRA's weights of a Llama by peft in bfloat16, with checkpointing."""
import torch
from peft import LoraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM

config = LlamaConfig(hidden_size=2048, num_hidden_layers=16, num_attention_heads=32,
                     num_key_value_heads=8, intermediate_size=8192, vocab_size=32000)
with torch.device("cuda"):
    model = LlamaForCausalLM(config).bfloat16()
model.gradient_checkpointing_enable()
model.enable_input_require_grads()
model = get_peft_model(model, LoraConfig(r=16, lora_alpha=32, target_modules="all-linear",
                                         lora_dropout=0.05, task_type="CAUSAL_LM"))
optimizer = torch.optim.AdamW([one for one in model.parameters() if one.requires_grad], lr=1e-4)
model.train()
for _ in range(4):
    tokens = torch.randint(32000, (4, 1024), device="cuda")
    loss = model(input_ids=tokens, labels=tokens).loss
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    print(loss.item())
