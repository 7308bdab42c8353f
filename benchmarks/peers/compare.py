#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the cases of a suite with torchvision, transformers and PyTorch in Python on the CPU, and
prints their step time and peak of allocated memory beside ours, the worst ratio first.

    python3 -m venv /tmp/peers
    /tmp/peers/bin/pip install torch==2.11.0 torchvision==0.26.0 transformers==5.23.0 pyyaml
    ./headroom --version    # builds it
    /tmp/peers/bin/python benchmarks/peers/compare.py configs/quickstart.yaml

Of each case headroom runs first, then Python, `--repeats` times in turn, so that what else the
machine does falls on both; of the times the smallest median counts. Each run is a process of its
own. Python runs twice: once without a profiler, for the time (the median of `steps` steps after
`warmup_steps`; data are ready beforehand), and once under torch.profiler, for memory. That reports
every allocation and release of PyTorch's CPU allocator in the bytes that were asked for, from
before the model is built, so their running sum is exact; its maximum over all is
`run_peak_allocated_bytes`, from the first step after the warm-up on `steady_peak_allocated_bytes`.
A case with something that has no counterpart here is listed as not covered, with the reason.
"""
import argparse
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml
from train import COLUMNS, NotCovered, measure

BUILD = pathlib.Path(__file__).resolve().parents[2] / "build/release"


def fill(fields: list, values: dict) -> dict:
    """`values`, completed by the defaults of the catalog's fields."""
    return {
        field["name"]: fill(field["fields"], values.get(field["name"], {}))
        if field["type"] == "object"
        else values.get(field["name"], field.get("default"))
        for field in fields
    }


def merge(base: dict, over: dict) -> dict:
    merged = dict(base)
    for key, value in over.items():
        both = isinstance(value, dict) and isinstance(base.get(key), dict)
        merged[key] = merge(base[key], value) if both else value
    return merged


def read_cases(suite: pathlib.Path, catalog: dict) -> list:
    """The cases of a suite file, every option given."""
    document = yaml.safe_load(suite.read_text())
    if "matrix" in document:
        raise SystemExit(f"{suite}: a matrix is not expanded here; give the effective suite file")
    options = {entry["name"]: entry["fields"] for entry in catalog["techniques"]}
    cases = []
    for entry in document["cases"]:
        case = merge(document.get("defaults", {}), entry)
        techniques = [t if isinstance(t, dict) else {t: {}} for t in case.get("techniques", [])]
        techniques = {name: given for t in techniques for name, given in t.items()}
        cases.append(
            fill(catalog["case"], case)
            | {"name": case["name"]}
            | {"techniques": {name: fill(options[name], given or {}) for name, given in
                              techniques.items()}}
        )
    return cases


def run_case(case: dict) -> dict:
    """What `measure` gives, from a fresh process; {"not_covered": reason} where it can't."""
    child = subprocess.run(
        [sys.executable, __file__, "--case"], input=json.dumps(case), text=True,
        stdout=subprocess.PIPE, check=True,
    )
    return json.loads(child.stdout.splitlines()[-1])


def child() -> None:
    try:
        result = measure(json.load(sys.stdin))
    except NotCovered as reason:
        result = {"not_covered": str(reason)}
    print(json.dumps(result))


def run_ours(suite: pathlib.Path, name: str) -> dict:
    """Our row of that case; its status is `ok`."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        subprocess.run(
            [BUILD / "headroom", "run", suite, "--device", "cpu", "--out", out,
             "--only", f"^{re.escape(name)}$"],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        with (out / "results.csv").open(newline="") as file:
            return next(csv.DictReader(file))


def run_both(suite: pathlib.Path, case: dict, repeats: int) -> tuple:
    """Ours and theirs, column by column; the smallest of all repeats."""
    ours, theirs = [], []
    for _ in range(repeats):
        ours.append(run_ours(suite, case["name"]))
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
    arguments = parser.parse_args()
    catalog = json.loads(subprocess.check_output([BUILD / "headroom-worker", "--catalog"]))
    ratios, remarks = [], []
    for case in read_cases(arguments.suite, catalog):
        name = case["name"]
        print(f"running {name}", file=sys.stderr)
        ours, theirs = run_both(arguments.suite, case, arguments.repeats)
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
