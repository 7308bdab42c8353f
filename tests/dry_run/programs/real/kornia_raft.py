# SPDX-License-Identifier: Apache-2.0
"""RAFT of torchvision learns optical flow; kornia augments its images on the GPU."""
import kornia.augmentation as augment
import torch
from torchvision.models.optical_flow import raft_large

model = raft_large(weights=None).cuda().train()
change = augment.AugmentationSequential(
    augment.ColorJiggle(0.2, 0.2, 0.2, 0.1), augment.RandomHorizontalFlip(),
    augment.RandomGaussianBlur((5, 5), (0.1, 2.0)), data_keys=["input"])
optimizer = torch.optim.AdamW(model.parameters(), 1e-4)
for _ in range(2):
    with torch.no_grad():
        first = change(torch.rand(2, 3, 368, 496, device="cuda"))
    flows = model(first, torch.rand(2, 3, 368, 496, device="cuda"), num_flow_updates=8)
    sum(0.8 ** (7 - i) * flow.abs().mean() for i, flow in enumerate(flows)).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
