# SPDX-License-Identifier: Apache-2.0
"""Trains a transformer sharded over four ranks (fully_shard), of which this process is the first.

The store is one of this process alone: only its own key for NCCL is asked of it. All else is as on
four GPUs.
"""
import torch
import torch.distributed as dist
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

WIDTH = 1024
LAYERS = 8
BATCH = 8
LENGTH = 512
STEPS = 4

torch.manual_seed(1)
torch.cuda.set_device(0)
dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=4)

with torch.device("meta"):
    blocks = [
        torch.nn.TransformerEncoderLayer(WIDTH, WIDTH // 64, 4 * WIDTH, batch_first=True)
        for _ in range(LAYERS)
    ]
    model = torch.nn.Sequential(*blocks, torch.nn.LayerNorm(WIDTH))
policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
for block in blocks:
    fully_shard(block, mp_policy=policy)
fully_shard(model, mp_policy=policy)
model.to_empty(device="cuda")
for parameter in model.parameters():
    torch.nn.init.normal_(parameter, std=0.02)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

for _ in range(STEPS):
    loss = model(torch.randn(BATCH, LENGTH, WIDTH, device="cuda")).square().mean()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()

print("allocated", torch.cuda.max_memory_allocated())
print("reserved", torch.cuda.max_memory_reserved())
dist.destroy_process_group()
