# SPDX-License-Identifier: Apache-2.0
"""FullyShardedDataParallel and DistributedDataParallel over NCCL, with one rank; then a CUDA graph,
streams, events, sorts and pinned memory. The same for every PyTorch since 2.1."""
import functools

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.distributed.fsdp.wrap import size_based_auto_wrap_policy
from torch.nn.parallel import DistributedDataParallel

WIDTH = 1024
BATCH = 256
STEPS = 3


def make_network() -> nn.Module:
    return nn.Sequential(*(nn.Linear(WIDTH, WIDTH) for _ in range(6))).cuda()


def train(network: nn.Module, optimizer: torch.optim.Optimizer):
    for _ in range(STEPS):
        network(torch.randn(BATCH, WIDTH, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def replay_graph():
    network = make_network()
    given = torch.randn(BATCH, WIDTH, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        network(given).sum().backward()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        network(given).sum().backward()
    graph.replay()


def use_streams():
    numbers = torch.randn(1 << 20).pin_memory()
    side = torch.cuda.Stream(priority=-1)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    with torch.cuda.stream(side):
        begin.record()
        copied = numbers.cuda(non_blocking=True)
        end.record()
    copied.record_stream(torch.cuda.current_stream())
    end.synchronize()
    begin.elapsed_time(end)
    copied.sort(stable=True)
    copied.topk(100)
    copied.cumsum(0)
    copied.to("cpu", non_blocking=True)


torch.manual_seed(1)
dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1)
wrap = functools.partial(size_based_auto_wrap_policy, min_num_params=WIDTH * WIDTH)
sharded = FullyShardedDataParallel(make_network(), auto_wrap_policy=wrap, device_id=0)
train(sharded, torch.optim.Adam(sharded.parameters()))
replicated = DistributedDataParallel(make_network())
train(replicated, torch.optim.Adagrad(replicated.parameters()))
replay_graph()
use_streams()

print("allocated", torch.cuda.max_memory_allocated())
print("reserved", torch.cuda.max_memory_reserved())
dist.destroy_process_group()
