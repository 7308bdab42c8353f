#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times one planned training step of ViT-L/16 at batch 64 (fp32, Adam), whole process, beside
PyTorch's own tracker (torch.distributed._tools.MemTracker under FakeTensorMode) on torchvision's
model.

Both run in turn, each in a process of its own; printed are the shortest and the median time, and
the peak that each tells. Needs torch and torchvision, as `ci/bootstrap tests` installs them:

    PYTHONPATH=.deps/programs .deps/python/bin/python3 benchmarks/peers/plan.py
"""
import argparse
import csv
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SUITE = """
suite: one_step
defaults:
  model: {name: vit_l_16, num_classes: 10, attention: efficient}
  data: {name: random_images, image_size: 224}
  train:
    batch_size: 64
    optimizer: {name: adam, lr: 5.0e-5}
    steps: 1
    warmup_steps: 0
    held_out_samples: 0
cases: [{name: vanilla}]
"""

TRACKER = """
import torch, torchvision
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed._tools.mem_tracker import MemTracker
with FakeTensorMode():
    model = torchvision.models.vit_l_16(num_classes=10)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-5, foreach=True)
    tracker = MemTracker()
    tracker.track_external(model, optimizer)
    with tracker:
        for _ in range(2):  # as headroom: one step to count, one to time
            optimizer.zero_grad()
            images = torch.randn(64, 3, 224, 224)
            labels = torch.randint(0, 10, (64,))
            torch.nn.functional.cross_entropy(model(images), labels).backward()
            optimizer.step()
            tracker.reset_mod_stats()
    print(max(v['Total'] for v in tracker.get_tracker_snapshot('peak').values()))
"""


def timed(command, **options):
    start = time.perf_counter()
    output = subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout
    return time.perf_counter() - start, output


def plan(headroom, folder, number):
    suite = folder / "suite.yaml"
    suite.write_text(SUITE)
    out = folder / f"out{number}"
    seconds, _ = timed([headroom, "plan", suite, "--gpu", "a100-40gb", "--out", out])
    with open(out / "results.csv", newline="") as file:
        row = next(csv.DictReader(file))
    assert row["status"] == "ok", row["reason"]
    return seconds, int(row["run_peak_allocated_bytes"])


def track():
    seconds, output = timed([sys.executable, "-c", TRACKER])
    return seconds, int(output.split()[-1])


def line(name, runs):
    seconds = [run[0] for run in runs]
    peak = runs[0][1] / 2**30
    print(f"{name:34} {min(seconds):7.2f} s  median {statistics.median(seconds):6.2f} s  "
          f"peak {peak:6.2f} GiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    headroom = Path(arguments.build) / "headroom"
    plans, tracks = [], []
    with tempfile.TemporaryDirectory() as name:
        for number in range(arguments.repeats):
            plans.append(plan(headroom, Path(name), number))
            tracks.append(track())
    line("headroom plan (a100-40gb)", plans)
    line("MemTracker, FakeTensorMode (cpu)", tracks)


if __name__ == "__main__":
    main()
