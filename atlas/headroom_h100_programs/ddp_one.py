# SPDX-License-Identifier: Apache-2.0
"""Trains torchvision's ResNet-50 by DDP on one GPU, its batch normalization synchronized."""
import os

import torch
import torch.distributed as dist
import torchvision

ONE = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29534", "RANK": "0", "WORLD_SIZE": "1"}

for name, value in ONE.items():
    os.environ.setdefault(name, value)
torch.cuda.set_device(0)
dist.init_process_group("nccl")
model = torch.nn.parallel.DistributedDataParallel(
    torch.nn.SyncBatchNorm.convert_sync_batchnorm(torchvision.models.resnet50()).cuda(),
    device_ids=[0], gradient_as_bucket_view=True)
optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
images = torch.randn(32, 3, 224, 224, device="cuda")
labels = torch.zeros(32, dtype=torch.long, device="cuda")
for _ in range(4):
    loss = torch.nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
dist.destroy_process_group()
