# SPDX-License-Identifier: Apache-2.0
"""Trains transformers' GPT-2 with PyTorch's Muon for its matrices and AdamW for the rest."""
import steps
import torch
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(0)
with torch.device("cuda"):
    model = GPT2LMHeadModel(GPT2Config()).train()
    tokens = torch.randint(50000, (8, 1024))
matrices = [weight for name, weight in model.named_parameters()
            if weight.dim() == 2 and ".h." in name]
others = [weight for name, weight in model.named_parameters()
          if weight.dim() != 2 or ".h." not in name]
optimizers = [torch.optim.Muon(matrices, 1e-3), torch.optim.AdamW(others, 1e-4)]


def step():
    with torch.autocast("cuda", torch.bfloat16):
        loss = model(input_ids=tokens, labels=tokens).loss
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()
        optimizer.zero_grad()
    return loss.detach()


steps.run(step)
