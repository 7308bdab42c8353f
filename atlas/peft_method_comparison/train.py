# SPDX-License-Identifier: Apache-2.0
"""Trains as run.py of peft's method comparison does on MetaMathQA, by shapes (source.yaml)."""
import gc
import json

import torch
from peft import PeftConfig, get_peft_model
from peft.optimizers import create_lorafa_optimizer
from transformers import AutoModelForCausalLM, LlamaConfig, get_cosine_schedule_with_warmup

import rows

BATCH = 4
AVERAGE = 210  # tokens of a text
LONGEST = 688  # tokens of the longest batch, which the source leaves unsaid
# One of 5,000 batches is the longest. It comes last, with no update: the time of a step, which is from
# one update to the next, is that of the average.
LENGTHS = (AVERAGE, AVERAGE, AVERAGE, LONGEST)
LLAMA = LlamaConfig(
    vocab_size=128256, hidden_size=3072, intermediate_size=8192, num_hidden_layers=28,
    num_attention_heads=24, num_key_value_heads=8, max_position_embeddings=131072, rope_theta=5e5,
    tie_word_embeddings=True, torch_dtype="bfloat16",
    rope_scaling={"factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                  "original_max_position_embeddings": 8192, "rope_type": "llama3"})


def make(row):
    with rows.Undrawn():
        return AutoModelForCausalLM.from_config(LLAMA, torch_dtype=torch.bfloat16)


def optimizer_of(model, row):
    options = json.loads(row["optimizer_options"])
    if row["optimizer"] == "lora-fa":
        return create_lorafa_optimizer(model, **options)
    return getattr(torch.optim, row["optimizer"])(model.parameters(), **options)


def train(model, row):
    model = model.cuda()
    if row["peft"]:
        config = json.loads(row["peft"])
        # The class is that of the kind; the rest are its own fields.
        model = get_peft_model(model, PeftConfig.from_peft_type(**config))
    optimizer = optimizer_of(model, row)
    schedule = get_cosine_schedule_with_warmup(optimizer, 500, 5000)
    model.train()
    for step, length in enumerate(LENGTHS, 1):
        tokens = torch.ones(BATCH, length, dtype=torch.long)
        mask = torch.ones(BATCH, length, dtype=torch.long)
        mask[1:, -1] = 0  # one of them is the longest
        batch = {"input_ids": tokens.cuda(), "attention_mask": mask.cuda()}
        batch["labels"] = batch["input_ids"].clone()
        batch["labels"][1:, -1] = -100
        items = batch["attention_mask"].sum().item()
        optimizer.zero_grad()
        output = model(**batch, num_items_in_batch=items)
        output.loss.backward()
        if length == LONGEST:
            break
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if row["key"].startswith("adalora"):
            model.base_model.update_and_allocate(step)
        output.loss.item()
        torch.cuda.empty_cache()
        gc.collect()


rows.each(make, train)
