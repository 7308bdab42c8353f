# SPDX-License-Identifier: Apache-2.0
"""Trains transformers' BERT on batches of other lengths in each step."""
import random

import steps
import torch
from transformers import BertConfig, BertForMaskedLM

torch.manual_seed(0)
with torch.device("cuda"):
    model = BertForMaskedLM(BertConfig()).train()
optimizer = torch.optim.AdamW(model.parameters(), 1e-4)
of_length = random.Random(0)


def loss_of():
    tokens = torch.randint(30000, (32, of_length.randrange(64, 512)), device="cuda")
    with torch.autocast("cuda", torch.bfloat16):
        return model(input_ids=tokens, labels=tokens).loss


steps.trained(optimizer, loss_of)
