# SPDX-License-Identifier: Apache-2.0
"""The Trainer of transformers with bitsandbytes' 8-bit AdamW: a T5 for translation."""
import torch
from datasets import Dataset
from transformers import (Seq2SeqTrainer, Seq2SeqTrainingArguments, T5Config,
                          T5ForConditionalGeneration)

model = T5ForConditionalGeneration(T5Config(
    d_model=768, d_ff=3072, num_layers=12, num_heads=12, decoder_start_token_id=0))
words = torch.randint(0, 32128, (64, 256)).tolist()
Seq2SeqTrainer(model, Seq2SeqTrainingArguments(
    "out", max_steps=3, per_device_train_batch_size=8, optim="adamw_bnb_8bit", fp16=True,
    gradient_accumulation_steps=2, save_strategy="no", report_to="none"),
    train_dataset=Dataset.from_dict({"input_ids": words, "labels": words})).train()
