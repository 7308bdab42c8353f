# SPDX-License-Identifier: Apache-2.0
"""The Trainer of transformers with Liger's kernels of Triton: a Qwen3 of 0.6 billion."""
import torch
from datasets import Dataset
from transformers import Qwen3Config, Qwen3ForCausalLM, Trainer, TrainingArguments

model = Qwen3ForCausalLM(Qwen3Config(
    vocab_size=151936, hidden_size=1024, intermediate_size=3072, num_hidden_layers=14,
    num_attention_heads=16, num_key_value_heads=8, head_dim=128, tie_word_embeddings=True))
words = torch.randint(0, 151936, (16, 1024)).tolist()
Trainer(model, TrainingArguments(
    "out", max_steps=2, per_device_train_batch_size=4, bf16=True, use_liger_kernel=True,
    gradient_checkpointing=True, optim="adafactor", save_strategy="no", report_to="none"),
    train_dataset=Dataset.from_dict({"input_ids": words, "labels": words})).train()
