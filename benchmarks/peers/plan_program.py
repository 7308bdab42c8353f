#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times `headroom plan -- PROGRAM` beside what the program takes without it: its imports alone, and
the same training on this CPU. Whole processes, in turns; prints the shortest and the median, and
their ratios to the imports. The training is small, so that PyTorch's imports are most of it.

Python keeps what it has compiled in a folder for this run, which is filled first.

    .deps/python/bin/python3 benchmarks/peers/plan_program.py
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

IMPORTS = "import torch, torch.optim, torch._dynamo  # the optimizers import the last\n"
TRAINING = """
import sys, torch
from torch import nn
net = nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1024)).to(sys.argv[1])
optimizer = torch.optim.AdamW(net.parameters())
for _ in range(3):
    net(torch.rand(64, 1024, device=sys.argv[1])).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def seconds(command, environment):
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=environment)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--headroom", default=ROOT / "headroom")
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "train.py"
        program.write_text(TRAINING)
        python = [sys.executable]
        commands = {
            "imports": [*python, "-c", IMPORTS],
            "on the CPU": [*python, program, "cpu"],
            "planned": [arguments.headroom, "plan", "--", *python, program, "cuda"],
        }
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder,
                       "HEADROOM_DRY_RUN_HOST_NS": "6000",
                       "HEADROOM_DRY_RUN_LAYOUT_COPIES": "none"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for command in commands.values():
            seconds(command, environment)
        times = {name: [] for name in commands}
        for _ in range(arguments.repeats):
            for name, command in commands.items():
                times[name].append(seconds(command, environment))
    imports = statistics.median(times["imports"])
    for name, taken in times.items():
        median = statistics.median(taken)
        print(f"{name:12} least {min(taken):5.2f} s  median {median:5.2f} s  "
              f"of the imports {median / imports:4.2f}")


if __name__ == "__main__":
    main()
