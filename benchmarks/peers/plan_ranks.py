#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plans ViT-L/16 at batch 64 (fp32, Adam) on four GPUs twice: our `fsdp`, and a program of PyTorch
that shards torchvision's model with fully_shard, each block and the root. Both are rank 0 of four
and run dry on the same GPU; printed are the peaks of allocated and reserved memory.

Needs torch and torchvision, as `ci/bootstrap tests` installs them:

    PYTHONPATH=.deps/programs .deps/python/bin/python3 benchmarks/peers/plan_ranks.py
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

GPU = "a100-40gb"
SUITE = """
suite: four_ranks
defaults:
  ranks: 4
  model: {name: vit_l_16, num_classes: 10, attention: efficient}
  data: {name: random_images, image_size: 224}
  train:
    batch_size: 64
    optimizer: {name: adam, lr: 5.0e-5}
    steps: 4
    warmup_steps: 3
    held_out_samples: 0
cases:
  - {name: plain, techniques: [fsdp]}
  - {name: checkpointing, techniques: [activation_checkpointing, fsdp]}
"""


def train(checkpointing: bool) -> None:
    import torch
    import torch.distributed as dist
    import torchvision
    from torch.distributed.fsdp import fully_shard
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.checkpoint import checkpoint

    dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=4)
    model = torchvision.models.vit_l_16(num_classes=10)
    for block in model.encoder.layers:
        if checkpointing:
            block.forward = (lambda forward: lambda x: checkpoint(
                forward, x, use_reentrant=False))(block.forward)
        fully_shard(block)
    fully_shard(model)
    model.to("cuda")
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-5, foreach=True)
    for _ in range(8):  # as headroom: three to warm up, one to count, four to time
        images = torch.randn(64, 3, 224, 224).cuda()
        labels = torch.randint(0, 10, (64,)).cuda()
        with sdpa_kernel([SDPBackend.EFFICIENT_ATTENTION]):
            loss = torch.nn.functional.cross_entropy(model(images), labels)
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        loss.item()


def plan_ours(headroom: Path) -> dict:
    """Both peaks of each case."""
    with tempfile.TemporaryDirectory() as name:
        suite = Path(name) / "suite.yaml"
        suite.write_text(SUITE)
        rows = json.loads(subprocess.check_output(
            [headroom, "plan", suite, "--gpu", GPU, "--json", "--out", Path(name) / "out"],
            stderr=subprocess.DEVNULL))
    return {row["case"]: (row["run_peak_allocated_bytes"], row["run_peak_reserved_bytes"])
            for row in rows}


def plan_theirs(headroom: Path, case: str) -> tuple:
    answer = json.loads(subprocess.check_output(
        [headroom, "plan", "--gpu", GPU, "--json", "--", sys.executable, __file__, "--train", case],
        stderr=subprocess.DEVNULL))
    process, = answer["processes"]
    return process["peak_allocated_bytes"], process["peak_reserved_bytes"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default="build/release")
    headroom = parser.parse_args().build / "headroom"
    print(f"{'ours/theirs':>11}  {'ours':>15}  {'theirs':>15}  peak, case")
    for case, ours in plan_ours(headroom).items():
        theirs = plan_theirs(headroom, case)
        for name, mine, other in zip(("allocated", "reserved"), ours, theirs):
            print(f"{mine / other:11.3f}  {mine:15,}  {other:15,}  {name}, {case}")


if __name__ == "__main__":
    train(sys.argv[2] == "checkpointing") if sys.argv[1:2] == ["--train"] else main()
