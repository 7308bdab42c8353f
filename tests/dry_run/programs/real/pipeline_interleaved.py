# SPDX-License-Identifier: Apache-2.0
"""Two ranks, four stages: interleaved 1F1B of torch.distributed.pipelining."""
import os

import torch
from torch import nn
from torch.distributed.pipelining import PipelineStage, ScheduleInterleaved1F1B

rank = int(os.environ["RANK"])
device = torch.device("cuda", rank)
torch.distributed.init_process_group("nccl", device_id=device)
layers = [nn.Sequential(*(nn.TransformerEncoderLayer(1024, 16, 4096, batch_first=True)
                          for _ in range(3))).to(device) for _ in range(2)]
stages = [PipelineStage(each, rank + 2 * i, 4, device) for i, each in enumerate(layers)]
schedule = ScheduleInterleaved1F1B(stages, n_microbatches=8,
                                   loss_fn=lambda out, target: (out - target).square().mean())
optimizer = torch.optim.AdamW([each for layer in layers for each in layer.parameters()])
inputs = torch.randn(16, 512, 1024, device=device)
for _ in range(3):
    schedule.step(*([inputs] if rank == 0 else []), **({"target": inputs} if rank == 1 else {}))
    optimizer.step()
    optimizer.zero_grad()
torch.distributed.destroy_process_group()
