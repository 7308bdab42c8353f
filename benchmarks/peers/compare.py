#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the cases of a suite with torchvision, transformers, peft, PyTorch and packages of
optimizers in Python on the CPU, and prints their step time and peak of allocated memory beside
ours, the worst ratio first.

    python3 -m venv /tmp/peers
    /tmp/peers/bin/pip install torch==2.11.0 torchvision==0.26.0 transformers==5.23.0 \
        torchao==0.17.0 peft==0.21.2 lion-pytorch==0.2.5 apollo-torch==1.0.3 bitsandbytes==0.50.2
    /tmp/peers/bin/pip install --no-deps lomo-optim==0.1.1
    ./headroom --version    # builds it
    /tmp/peers/bin/python benchmarks/peers/compare.py configs/quickstart.yaml

Of each case headroom runs first, then Python, `--repeats` times in turn, so that what else the
machine does falls on both; of the times the smallest median counts. Each run is a process of its
own. Python runs twice: once without a profiler, for the time (the median of `steps` steps after
`warmup_steps`; data are ready beforehand), and once under torch.profiler, for memory. That reports
every allocation and release of PyTorch's CPU allocator in the bytes that were asked for, from
before the model is built, so their running sum is exact; its maximum over all is
`run_peak_allocated_bytes`, from the first step after the warm-up on `steady_peak_allocated_bytes`.
A case of several ranks is as many processes over gloo, with DistributedDataParallel, fully_shard or
ZeroRedundancyOptimizer; as in our rows its step time is that of the slowest rank, and its peaks are
those of the rank with the largest one.
A case with something that has no counterpart here is listed as not covered, with the reason.
"""
import argparse
import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from not_covered import NotCovered
from train import COLUMNS, measure

# As headroom's worker sets its own heap, and why: src/memory/host_memory.h.
HEAP = {"MALLOC_MMAP_THRESHOLD_": str(32 * 2**20), "MALLOC_TRIM_THRESHOLD_": str(2**40)}
BUILD = pathlib.Path(__file__).resolve().parents[2] / "build/release"


def read_cases(build: pathlib.Path, suite: pathlib.Path, options: list) -> list:
    """The cases of a suite file, every field given; techniques by name."""
    printed = subprocess.check_output(
        [build / "headroom", "run", suite, "--list-cases", "--json", *options])
    cases = json.loads(printed)
    for case in cases:
        case["techniques"] = {options.pop("name"): options for options in case["techniques"]}
    return cases


def run_case(case: dict) -> dict:
    """What `measure` gives, from a fresh process for each rank, as one row; {"not_covered": reason}
    where it can't."""
    environment = HEAP | os.environ
    if case["ranks"] > 1:  # as headroom shares out the cores
        threads = max(1, len(os.sched_getaffinity(0)) // case["ranks"])
        environment.setdefault("OMP_NUM_THREADS", str(threads))
    with tempfile.TemporaryDirectory() as folder:
        ranks = [subprocess.Popen([sys.executable, __file__, "--case"], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True, env=environment)
                 for _ in range(case["ranks"])]
        for rank, process in enumerate(ranks):
            with process.stdin as stdin:
                json.dump(case | {"rank": rank, "store": f"{folder}/store"}, stdin)
        outputs = [process.stdout.read() for process in ranks]
        for rank, process in enumerate(ranks):
            if process.wait() != 0:
                raise SystemExit(f"rank {rank} of {case['name']} failed in Python")
    results = [json.loads(output.splitlines()[-1]) for output in outputs]
    if "not_covered" in results[0]:
        return results[0]
    row = dict(max(results, key=lambda result: result["run_peak_allocated_bytes"]))
    row["step_time_median_ns"] = max(result["step_time_median_ns"] for result in results)
    return row


def child() -> None:
    try:
        result = measure(json.load(sys.stdin))
    except NotCovered as reason:
        result = {"not_covered": str(reason)}
    print(json.dumps(result), flush=True)
    os._exit(0)  # gloo's threads may end a process that leaves while others do


def run_ours(build: pathlib.Path, suite: pathlib.Path, name: str, settings: list) -> dict:
    """Our row of that case; its status is `ok`."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        subprocess.run(
            [build / "headroom", "run", suite, "--device", "cpu", "--out", out,
             "--only", f"^{re.escape(name)}$", *settings],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        with (out / "results.csv").open(newline="") as file:
            return next(csv.DictReader(file))


def run_both(arguments: argparse.Namespace, case: dict, settings: list) -> tuple:
    """Ours and theirs, column by column; the smallest of all repeats."""
    ours, theirs = [], []
    for _ in range(arguments.repeats):
        ours.append(run_ours(arguments.build, arguments.suite, case["name"], settings))
        theirs.append(run_case(case))
        if "not_covered" in theirs[0]:
            return ours[0], theirs[0]
    return tuple(
        {column: min(int(run[column]) for run in runs) for column in COLUMNS}
        for runs in (ours, theirs)
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", type=pathlib.Path)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--only", default="", help="as of headroom run")
    parser.add_argument("--set", action="append", default=[], help="as of headroom run")
    parser.add_argument("--build", type=pathlib.Path, default=BUILD)
    arguments = parser.parse_args()
    settings = [word for value in arguments.set for word in ("--set", value)]
    ratios, remarks = [], []
    options = ["--only", arguments.only, *settings]
    for case in read_cases(arguments.build, arguments.suite, options):
        name = case["name"]
        print(f"running {name}", file=sys.stderr)
        ours, theirs = run_both(arguments, case, settings)
        if "not_covered" in theirs:
            remarks.append(f"{name}: not covered: {theirs['not_covered']}")
            continue
        for column in COLUMNS:
            mine, other = ours[column], theirs[column]
            ratios.append((mine / other, name, column, mine, other))
    print(f"{'ours/theirs':>11}  {'ours':>15}  {'theirs':>15}  column, case")
    for ratio, name, column, mine, theirs in sorted(ratios, reverse=True):
        print(f"{ratio:11.3f}  {mine:15,}  {theirs:15,}  {column}, {name}")
    print(*remarks, sep="\n")


if __name__ == "__main__":
    child() if sys.argv[1:] == ["--case"] else main()
