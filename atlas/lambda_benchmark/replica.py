# SPDX-License-Identifier: Apache-2.0
"""A model that as many ranks train together as the row says, seen by rank 0 of them (source.yaml)."""
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def of(model, ranks, **options):
    """The model on the GPU, its gradients reduced as they come. One rank: the model itself."""
    if ranks == 1:
        return model
    dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=ranks)
    return DistributedDataParallel(model, device_ids=[0], **options)
