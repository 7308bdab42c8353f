# SPDX-License-Identifier: Apache-2.0
"""Two ranks of mp.spawn: DistributedDataParallel, bfloat16 hooks, ZeroRedundancyOptimizer."""
import torch
import torch.multiprocessing as mp
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import bf16_compress_hook
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel
from torchvision.models import vit_l_16


def train(rank, store):
    torch.cuda.set_device(rank)
    torch.distributed.init_process_group("nccl", f"file://{store}", rank=rank, world_size=2)
    model = DistributedDataParallel(vit_l_16().cuda(), device_ids=[rank], static_graph=True,
                                    gradient_as_bucket_view=True)
    model.register_comm_hook(None, bf16_compress_hook)
    optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.AdamW, lr=1e-4)
    for _ in range(2):
        with torch.autocast("cuda", torch.bfloat16):
            model(torch.randn(32, 3, 224, 224, device="cuda")).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    import os
    mp.spawn(train, (os.path.abspath("store"),), nprocs=2)
