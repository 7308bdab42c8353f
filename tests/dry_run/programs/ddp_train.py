# SPDX-License-Identifier: Apache-2.0
"""DistributedDataParallel by NCCL, which compares the parameters of all ranks: rank 0 of
WORLD_SIZE, whose store is in this process."""
import os

import torch
import torch.distributed as dist

world = int(os.environ["WORLD_SIZE"])
store = dist.HashStore()
dist.init_process_group("nccl", store=store, rank=0, world_size=world)
numbers = torch.arange(7, device="cuda")
received = [torch.empty_like(numbers) for _ in range(world)]
dist.all_gather(received, torch.tensor([1, 2, 3, 4, 5, 6, 7]).to("cuda"))
assert received[-1].tolist() == [1, 2, 3, 4, 5, 6, 7], received
objects = [{"name": "of rank 0"}]
dist.broadcast_object_list(objects, src=0)
assert objects[0]["name"] == "of rank 0", objects

model = torch.nn.Sequential(*(torch.nn.Linear(1024, 1024) for _ in range(16))).cuda()
model = torch.nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(2):
    model(torch.rand(64, 1024, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
print("allocated", torch.cuda.max_memory_allocated())
