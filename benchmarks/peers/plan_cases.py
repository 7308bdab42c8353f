#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plans the cases of a suite twice, on one GPU: ours, and the same training in Python with
transformers, torchvision and PyTorch (train.py), as `headroom plan -- PROGRAM` runs it dry. Prints
the peaks of allocated memory over the whole run, and the ratio of reserved ones. A case with
something that has no counterpart here is listed as not covered, with the reason.

Needs what `ci/bootstrap tests` installs:

    PYTHONPATH=.deps/programs .deps/python/bin/python3 benchmarks/peers/plan_cases.py \\
        configs/llama_1b.yaml --gpu h100 --set model.attention=flash --only bfloat16
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from compare import BUILD, read_cases

STEPS = 3


def child(case: dict) -> None:
    from train import JOINS_RANKS, Case, NotCovered, check
    try:
        check(case)
        if JOINS_RANKS & set(case["techniques"]):
            raise NotCovered("ranks")
    except NotCovered as reason:
        raise SystemExit(f"not covered: {reason}")
    trained = Case(case, "cuda")
    for _ in range(STEPS):
        trained.step()


def plan_ours(build: pathlib.Path, suite: pathlib.Path, gpu: str, settings: list) -> list:
    """Our rows."""
    steps = ["--set", "train.steps=1", "--set", "train.warmup_steps=1"]
    with tempfile.TemporaryDirectory() as folder:
        return json.loads(subprocess.run(
            [build / "headroom", "plan", suite, "--gpu", gpu, "--json", "--out", f"{folder}/out",
             *settings, *steps], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)


def plan_theirs(build: pathlib.Path, case: dict, gpu: str) -> tuple:
    """The plan, or None and why there is none."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(case, file)
        file.flush()
        ended = subprocess.run(
            [build / "headroom", "plan", "--gpu", gpu, "--json", "--", sys.executable, __file__,
             "--case", file.name], capture_output=True, text=True)
    lines = ended.stderr.splitlines() or [""]
    reason = next((line for line in lines if line.startswith("not covered")), lines[-1])
    if ended.returncode != 0:
        return None, reason
    process, = json.loads(ended.stdout)["processes"]
    return process, ""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", type=pathlib.Path)
    parser.add_argument("--gpu", default="h100")
    parser.add_argument("--only", default="", help="as of headroom plan")
    parser.add_argument("--set", action="append", default=[], help="as of headroom plan")
    parser.add_argument("--build", type=pathlib.Path, default=BUILD)
    arguments = parser.parse_args()
    settings = ["--only", arguments.only]
    settings += [word for value in arguments.set for word in ("--set", value)]
    cases = {case["name"]: case for case in read_cases(arguments.build, arguments.suite, settings)}
    print(f"{'ours/theirs':>11}  {'ours':>15}  {'theirs':>15}  {'reserved':>8}  case")
    for row in plan_ours(arguments.build, arguments.suite, arguments.gpu, settings):
        ours = row["run_peak_allocated_bytes"]
        theirs, reason = plan_theirs(arguments.build, cases[row["case"]], arguments.gpu)
        if row["status"] != "ok" or theirs is None:
            print(f"{row['case']}: {row['reason'] or reason}")
        else:
            allocated = theirs["peak_allocated_bytes"]
            reserved = row["run_peak_reserved_bytes"] / theirs["peak_reserved_bytes"]
            print(f"{ours / allocated:11.4f}  {ours:15,}  {allocated:15,}  {reserved:8.4f}  "
                  f"{row['case']}")


if __name__ == "__main__":
    child(json.load(open(sys.argv[2]))) if sys.argv[1:2] == ["--case"] else main()
