# SPDX-License-Identifier: Apache-2.0
"""Trains transformers' GPT-2 by FSDP 2 on one GPU, its arithmetic in bfloat16."""
import os

import torch
import torch.distributed as dist
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from transformers import GPT2Config, GPT2LMHeadModel

ONE = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29533", "RANK": "0", "WORLD_SIZE": "1"}

for name, value in ONE.items():
    os.environ.setdefault(name, value)
torch.cuda.set_device(0)
dist.init_process_group("nccl")
model = GPT2LMHeadModel(GPT2Config()).cuda()
policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16)
for block in model.transformer.h:
    fully_shard(block, mp_policy=policy)
fully_shard(model, mp_policy=policy)
optimizer = torch.optim.AdamW(model.parameters(), 1e-4)
tokens = torch.randint(50000, (8, 1024), device="cuda")
for _ in range(4):
    loss = model(input_ids=tokens, labels=tokens).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print(loss.item())
dist.destroy_process_group()
