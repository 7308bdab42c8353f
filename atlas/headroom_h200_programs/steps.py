# SPDX-License-Identifier: Apache-2.0
"""Runs the steps of a training: its peaks, and the time of a step, as one line of JSON."""
import json
import statistics

import torch

COUNT = 10
WARMUP = 4


def run(step):
    """`step` gives a loss. The host runs ahead as far as it can."""
    events = [torch.cuda.Event(enable_timing=True) for _ in range(COUNT + 1)]
    events[0].record()
    for event in events[1:]:
        loss = step()
        event.record()
    events[-1].synchronize()
    times = [first.elapsed_time(last) / 1e3 for first, last in zip(events, events[1:])]
    stats = torch.cuda.memory_stats()
    print(json.dumps({"allocated": stats["allocated_bytes.all.peak"],
                      "reserved": stats["reserved_bytes.all.peak"],
                      "step_s": statistics.median(times[WARMUP:]), "loss": loss.item()}))


def trained(optimizer, loss_of):
    """Of a training by one optimizer, without a scaler."""
    def step():
        loss = loss_of()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.detach()
    run(step)
