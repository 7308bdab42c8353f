# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes BERT by transformers' Trainer in bfloat16."""
import tempfile

import torch
from transformers import (BertConfig, BertForSequenceClassification, Trainer,
                          TrainingArguments)


class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 512

    def __getitem__(self, at):
        return {"input_ids": torch.arange(256) % 30000,
                "attention_mask": torch.ones(256, dtype=torch.long), "labels": at % 2}


model = BertForSequenceClassification(BertConfig())
arguments = TrainingArguments(
    tempfile.mkdtemp(), per_device_train_batch_size=32, max_steps=6, bf16=True, report_to=[],
    save_strategy="no", logging_steps=2)
Trainer(model, arguments, train_dataset=Data()).train()
