# SPDX-License-Identifier: Apache-2.0
"""Two devices in one process, by DataParallel and by hand: each has memory, streams, peaks of its
own."""
import threading

import torch

assert torch.cuda.device_count() == 2, torch.cuda.device_count()
assert torch.cuda.can_device_access_peer(0, 1)
assert torch.cuda.get_device_properties(0).uuid != torch.cuda.get_device_properties(1).uuid

there = torch.tensor([1, 2, 3], device="cuda:1")
here = there.to("cuda:0")
assert (here.device.index, here.tolist()) == (0, [1, 2, 3])
assert torch.cuda.current_device() == 0
seen = []
with torch.cuda.device(1):
    thread = threading.Thread(target=lambda: seen.append(torch.cuda.current_device()))
    thread.start()
    thread.join()
assert seen == [0], seen  # another thread has another device
event = torch.cuda.Event()
with torch.cuda.device(1):
    large = torch.empty(1 << 28, device="cuda").zero_()
    event.record()
torch.cuda.current_stream(0).wait_event(event)
torch.cuda.synchronize(0)

model = torch.nn.Sequential(*(torch.nn.Linear(1024, 1024) for _ in range(8))).to("cuda:0")
model = torch.nn.DataParallel(model)
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(2):
    model(torch.rand(64, 1024, device="cuda:0")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
for device in range(2):
    print(f"allocated_{device}", torch.cuda.max_memory_allocated(device))
    print(f"reserved_{device}", torch.cuda.max_memory_reserved(device))
