# SPDX-License-Identifier: Apache-2.0
"""One rank of a pipeline of two stages, whose ranks shard their layers (fully_shard) and split
them (tensor parallelism) over two ranks each. An early stage has more micro-batches in flight."""
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel, RowwiseParallel, parallelize_module)

STAGES = 2
WIDTH = 1024
MICRO_BATCH = 512

dist.init_process_group("nccl")
mesh = init_device_mesh("cuda", (STAGES, 2, 2), mesh_dim_names=("stages", "shards", "parts"))
torch.cuda.set_device(int(dist.get_rank() % torch.cuda.device_count()))
stage, pipeline = mesh.get_local_rank("stages"), mesh.get_group("stages")

model = torch.nn.Sequential(torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.ReLU(),
                            torch.nn.Linear(4 * WIDTH, WIDTH)).cuda()
parallelize_module(model, mesh["parts"], {"0": ColwiseParallel(), "2": RowwiseParallel()})
fully_shard(model, mesh=mesh["shards"])
optimizer = torch.optim.AdamW(model.parameters())


def exchange(operation, tensor, other):
    if 0 <= other < STAGES:
        [work] = dist.batch_isend_irecv([dist.P2POp(operation, tensor, group=pipeline,
                                                    group_peer=other)])
        work.wait()


for _ in range(2):
    in_flight = []
    for _ in range(STAGES - stage):
        batch = torch.zeros(MICRO_BATCH, WIDTH, device="cuda", requires_grad=True)
        exchange(dist.irecv, batch.detach(), stage - 1)
        output = model(batch)
        exchange(dist.isend, output.detach(), stage + 1)
        in_flight.append((batch, output))
    for batch, output in in_flight:
        gradient = torch.zeros_like(output)
        exchange(dist.irecv, gradient, stage + 1)
        output.backward(gradient)
        exchange(dist.isend, batch.grad, stage - 1)
    optimizer.step()
    optimizer.zero_grad()
    total = torch.ones(1).cuda()
    dist.all_reduce(total)

rank = dist.get_rank()
print(f"allocated_{rank} {torch.cuda.max_memory_allocated()} "
      f"reserved_{rank} {torch.cuda.max_memory_reserved()}", flush=True)
dist.barrier()
dist.destroy_process_group()
