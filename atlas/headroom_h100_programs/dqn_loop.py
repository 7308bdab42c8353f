# SPDX-License-Identifier: Apache-2.0
"""Trains a deep Q-network, its memory of frames and its target network on the GPU."""
import copy

import torch
from torch import nn

q = nn.Sequential(
    nn.Conv2d(4, 32, 8, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU(), nn.Conv2d(64, 64, 3),
    nn.ReLU(), nn.Flatten(), nn.Linear(3136, 512), nn.ReLU(), nn.Linear(512, 18)).cuda()
target = copy.deepcopy(q)
optimizer = torch.optim.RMSprop(q.parameters())
memory = torch.zeros(10000, 4, 84, 84, dtype=torch.uint8, device="cuda")
for step in range(50):
    at = torch.randint(9999, (256,), device="cuda")
    now, then = memory[at].float() / 255, memory[at + 1].float() / 255
    with torch.no_grad():
        wanted = target(then).max(1)[0] * 0.99 + 1
    loss = nn.functional.smooth_l1_loss(
        q(now).gather(1, torch.randint(18, (256, 1), device="cuda")).squeeze(1), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        target.load_state_dict(q.state_dict())
        print(loss.item())
