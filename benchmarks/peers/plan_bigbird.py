#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plans BigBird at 4,096 tokens (batch 1, bfloat16, Adam) on one GPU twice: our
`bigbird_roberta_base` with attention `eager`, and a program that trains transformers' own. Printed
are the peaks of allocated and reserved memory.

Needs torch and transformers, as `ci/bootstrap tests` installs them:

    PYTHONPATH=.deps/programs .deps/python/bin/python3 benchmarks/peers/plan_bigbird.py

With a transformers of up to 5.0 first in PYTHONPATH, `--attention automatic` is its counterpart.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

GPU = "a100-40gb"
SUITE = """
suite: bigbird
defaults:
  model: {{name: bigbird_roberta_base, num_classes: 2, attention: {attention}, dropout: 0.1}}
  data: {{name: random_tokens, sequence_length: 4096}}
  train:
    batch_size: 1
    optimizer: {{name: adam, lr: 5.0e-5}}
    steps: 4
    warmup_steps: 3
    held_out_samples: 0
cases: [{{name: plain, techniques: [bfloat16]}}]
"""


def train() -> None:
    import torch
    from transformers import BigBirdConfig, BigBirdForSequenceClassification

    model = BigBirdForSequenceClassification(BigBirdConfig()).to(torch.bfloat16).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-5, foreach=True)
    for _ in range(8):  # as headroom: three to warm up, one to count, four to time
        ids = torch.randint(100, 30000, (1, 4096)).cuda()
        labels = torch.zeros(1, dtype=torch.long).cuda()
        loss = model(ids, labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        loss.item()


def plan_ours(headroom: Path, attention: str) -> tuple:
    with tempfile.TemporaryDirectory() as name:
        suite = Path(name) / "suite.yaml"
        suite.write_text(SUITE.format(attention=attention))
        row, = json.loads(subprocess.check_output(
            [headroom, "plan", suite, "--gpu", GPU, "--json", "--out", Path(name) / "out"],
            stderr=subprocess.DEVNULL))
    return row["run_peak_allocated_bytes"], row["run_peak_reserved_bytes"]


def plan_theirs(headroom: Path) -> tuple:
    answer = json.loads(subprocess.check_output(
        [headroom, "plan", "--gpu", GPU, "--json", "--", sys.executable, __file__, "--train"],
        stderr=subprocess.DEVNULL))
    process, = answer["processes"]
    return process["peak_allocated_bytes"], process["peak_reserved_bytes"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default="build/release")
    parser.add_argument("--attention", choices=("eager", "automatic"), default="eager")
    arguments = parser.parse_args()
    headroom = arguments.build / "headroom"
    print(f"{'ours/theirs':>11}  {'ours':>15}  {'theirs':>15}  peak")
    ours, theirs = plan_ours(headroom, arguments.attention), plan_theirs(headroom)
    for name, mine, other in zip(("allocated", "reserved"), ours, theirs):
        print(f"{mine / other:11.3f}  {mine:15,}  {other:15,}  {name}")


if __name__ == "__main__":
    train() if sys.argv[1:2] == ["--train"] else main()
