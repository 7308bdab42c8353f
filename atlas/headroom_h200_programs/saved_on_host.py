# SPDX-License-Identifier: Apache-2.0
"""Trains transformers' GPT-2 with what is saved for backward in page-locked host memory."""
import steps
import torch
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(0)
with torch.device("cuda"):
    model = GPT2LMHeadModel(GPT2Config()).bfloat16()
    tokens = torch.randint(50000, (4, 1024))
model.train()
optimizer = torch.optim.AdamW(model.parameters(), 1e-4)


def loss_of():
    with torch.autograd.graph.save_on_cpu(pin_memory=True):
        return model(input_ids=tokens, labels=tokens).loss


steps.trained(optimizer, loss_of)
