# SPDX-License-Identifier: Apache-2.0
"""Trains BERT of transformers with its Trainer and gradient checkpointing, on random sentences.

The weights are random: nothing is downloaded.
"""
import tempfile

import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

BATCH = 16
LENGTH = 256
STEPS = 4


class RandomSentences(torch.utils.data.Dataset):
    def __len__(self):
        return STEPS * BATCH

    def __getitem__(self, index):
        words = torch.randint(30522, (LENGTH,), generator=torch.Generator().manual_seed(index))
        return {"input_ids": words, "attention_mask": torch.ones_like(words), "labels": index % 2}


torch.manual_seed(1)
model = BertForSequenceClassification(BertConfig(num_labels=2))
with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        output_dir=folder,
        per_device_train_batch_size=BATCH,
        max_steps=STEPS,
        bf16=True,
        gradient_checkpointing=True,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
    Trainer(model=model, args=arguments, train_dataset=RandomSentences()).train()

print("allocated", torch.cuda.max_memory_allocated())
print("reserved", torch.cuda.max_memory_reserved())
