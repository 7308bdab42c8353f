# SPDX-License-Identifier: Apache-2.0
"""FullyShardedDataParallel of fairscale, nested, with its checkpoints and its adaptive scale."""
import os

import torch
from fairscale.nn import FullyShardedDataParallel, auto_wrap, checkpoint_wrapper, enable_wrap
from torch import nn

rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
torch.distributed.init_process_group("nccl")
with enable_wrap(wrapper_cls=FullyShardedDataParallel, mixed_precision=True):
    blocks = [auto_wrap(checkpoint_wrapper(nn.Sequential(
        nn.Linear(2048, 8192), nn.ReLU(), nn.Linear(8192, 2048)))) for _ in range(8)]
    model = FullyShardedDataParallel(nn.Sequential(*blocks), mixed_precision=True).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(3):
    model(torch.randn(2048, 2048, device="cuda", requires_grad=True)).float().sum().backward()
    model.clip_grad_norm_(1.0)
    optimizer.step()
    optimizer.zero_grad()
torch.distributed.destroy_process_group()
