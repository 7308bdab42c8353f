# SPDX-License-Identifier: Apache-2.0
"""Trains GPT-2 medium by transformers' Trainer in bfloat16, with checkpointing and validation."""
import tempfile

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments


class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 512

    def __getitem__(self, at):
        tokens = torch.arange(1024) % 50000
        return {"input_ids": tokens, "labels": tokens}


model = GPT2LMHeadModel(GPT2Config(n_embd=1024, n_layer=24, n_head=16))
arguments = TrainingArguments(
    tempfile.mkdtemp(), per_device_train_batch_size=4, gradient_accumulation_steps=2,
    gradient_checkpointing=True, max_steps=4, bf16=True, optim="adamw_torch_fused", report_to=[],
    save_strategy="no", eval_strategy="steps", eval_steps=2)
Trainer(model, arguments, train_dataset=Data(),
        eval_dataset=torch.utils.data.Subset(Data(), range(8))).train()
