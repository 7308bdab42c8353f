# SPDX-License-Identifier: Apache-2.0
"""Ranks that a launcher starts, each with a GPU: they get what the others sent from the host, wait
for each other, and train by DistributedDataParallel and fully_shard."""
import os
import sys
import time

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symmetric_memory
from torch.distributed.fsdp import fully_shard

rank = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", rank)
torch.cuda.set_device(device)
dist.init_process_group("nccl", device_id=device)
world = dist.get_world_size()
everyone = range(world)


def sent(*numbers, dtype=torch.int64):
    return torch.tensor(numbers, dtype=dtype).to(device)


def expect(tensor, *numbers):
    assert tensor.tolist() == list(numbers), (rank, tensor.tolist(), numbers)


gathered = [sent(0, 0) for _ in everyone]
dist.all_gather(gathered, sent(rank, 7))
for other in everyone:
    expect(gathered[other], other, 7)
last = sent(rank)
dist.broadcast(last, src=world - 1)
expect(last, world - 1)
for dtype in torch.int32, torch.int64, torch.float32, torch.float64:
    total = sent(rank + 1, dtype=dtype)
    dist.all_reduce(total)
    expect(total, sum(each + 1 for each in everyone))
most = sent(rank, -rank)
dist.all_reduce(most, op=dist.ReduceOp.MAX)
expect(most, world - 1, 0)
losses = torch.rand(2, 8192, device=device).sum(1)  # nobody computes them; the count is known
counted = torch.cat([losses, sent(rank + 1, dtype=torch.float32)])
dist.all_reduce(counted)
expect(counted[2:], sum(each + 1 for each in everyone))
assert len((counted[:2] < 0).nonzero()) == 2, "of a mask that is not known all is kept"
part = sent(0)
dist.reduce_scatter_tensor(part, sent(*(10 * each for each in everyone)))
expect(part, 10 * rank * world)
turned = sent(*everyone)
dist.all_to_all_single(turned, sent(*(10 * rank + each for each in everyone)))
expect(turned, *(10 * each + rank for each in everyone))

right, left = (rank + 1) % world, (rank - 1) % world
neighbour = sent(0)
for work in dist.batch_isend_irecv([
        dist.P2POp(dist.isend, sent(rank), right), dist.P2POp(dist.irecv, neighbour, left)]):
    work.wait()
expect(neighbour, left)

objects = [{"name": "of rank 0", "size": 5}, "another"] if rank == 0 else [None, None]
dist.broadcast_object_list(objects, src=0)
assert objects == [{"name": "of rank 0", "size": 5}, "another"], objects
names = [None for _ in everyone]
dist.all_gather_object(names, "x" * 10 * (rank + 1))
assert names == ["x" * 10 * (each + 1) for each in everyone], names

large = [os.urandom((1 + each) << 20) if rank == 0 else None for each in everyone]
dist.broadcast_object_list(large, src=0)
assert [len(each) for each in large] == [(1 + each) << 20 for each in everyone]
back = [None for _ in everyone]
dist.all_gather_object(back, large[rank])
assert back == large, "objects of more than is known of other tensors"
dist.gather_object(large[rank][1:], back if rank == 0 else None)
scattered = [None]
dist.scatter_object_list(scattered, back if rank == 0 else None)
assert scattered == [large[rank][1:]]

groups = [dist.new_group([other for other in everyone if other % 2 == odd]) for odd in (0, 1)]
mine = sent(rank)
dist.all_reduce(mine, group=groups[rank % 2])
expect(mine, sum(other for other in everyone if other % 2 == rank % 2))

if rank == 0:
    time.sleep(1)
    open(sys.argv[1], "w").close()
dist.barrier()
assert os.path.exists(sys.argv[1]), "a barrier is one for all ranks"

free = torch.cuda.mem_get_info()[0]
shared = symmetric_memory.empty(1 << 26, dtype=torch.uint8, device=device)
symmetric_memory.rendezvous(shared, dist.group.WORLD.group_name)
taken = free - torch.cuda.mem_get_info()[0]
assert 1 << 26 <= taken < 1 << 27, f"what is another rank's is counted there: {taken}"

begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
begin.record()
if rank == 0:
    square = torch.empty(8192, 8192, device=device)
    square @ square
dist.all_reduce(sent(rank))
end.record()
torch.cuda.synchronize()
times = [None for _ in everyone]
dist.all_gather_object(times, begin.elapsed_time(end))
assert times[0] > 10 and min(times) > 0.9 * times[0], f"ranks wait for the last one: {times}"


def train(model, batch):
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(2):
        model(torch.rand(batch, 1024, device=device)).sum().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()


def make_model():
    return torch.nn.Sequential(*(torch.nn.Linear(1024, 1024) for _ in range(8))).to(device)


train(torch.nn.parallel.DistributedDataParallel(make_model(), device_ids=[rank]), batch=64)
sharded = make_model()
for layer in sharded:
    fully_shard(layer)
train(fully_shard(sharded), batch=4096 * (rank + 1))
peaks = torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()
# In one write, as the ranks share a terminal.
os.write(1, f"allocated_{rank} {peaks[0]} reserved_{rank} {peaks[1]}\n".encode())
dist.destroy_process_group()
