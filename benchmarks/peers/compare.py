#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the cases of a suite with torchvision, transformers and PyTorch in Python on the CPU, and
prints their step time and peak of allocated memory beside ours, the worst ratio first.

    python3 -m venv /tmp/peers
    /tmp/peers/bin/pip install torch==2.11.0 torchvision==0.26.0 transformers==5.23.0 pyyaml
    ./headroom run configs/quickstart.yaml --device cpu --out /tmp/ours
    /tmp/peers/bin/python benchmarks/peers/compare.py configs/quickstart.yaml /tmp/ours/results.csv

Each case runs in a process of its own, twice: once without a profiler, for the time (the median of
`steps` steps after `warmup_steps`; data are ready beforehand), and once under torch.profiler, for
memory. That reports every allocation and release of PyTorch's CPU allocator in the bytes that were
asked for, from before the model is built, so their running sum is exact; its maximum over all is
`run_peak_allocated_bytes`, from the first step after the warm-up on `steady_peak_allocated_bytes`.
A case with something that has no counterpart here is listed as not covered, with the reason.
"""
import argparse
import csv
import json
import pathlib
import subprocess
import sys

import yaml
from train import COLUMNS, NotCovered, measure

ROOT = pathlib.Path(__file__).resolve().parents[2]


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


def read_results(path: pathlib.Path) -> dict:
    with path.open(newline="") as file:
        return {row["case"]: row for row in csv.DictReader(file) if row["status"] == "ok"}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", type=pathlib.Path)
    parser.add_argument("results", type=pathlib.Path, help="our results.csv of that suite")
    parser.add_argument("--worker", type=pathlib.Path, metavar="PROGRAM",
                        default=ROOT / "build/release/headroom-worker",
                        help="whose catalog has the defaults")
    arguments = parser.parse_args()
    catalog = json.loads(subprocess.check_output([arguments.worker, "--catalog"]))
    ours = read_results(arguments.results)
    ratios, remarks = [], []
    for case in read_cases(arguments.suite, catalog):
        name = case["name"]
        if name not in ours:
            remarks.append(f"{name}: no row with status ok in {arguments.results}")
            continue
        print(f"running {name}", file=sys.stderr)
        theirs = run_case(case)
        if "not_covered" in theirs:
            remarks.append(f"{name}: not covered: {theirs['not_covered']}")
            continue
        for column in COLUMNS:
            if ours[name].get(column):
                mine = int(ours[name][column])
                ratios.append((mine / theirs[column], name, column, mine, theirs[column]))
    print(f"{'ours/theirs':>11}  {'ours':>15}  {'theirs':>15}  column, case")
    for ratio, name, column, mine, theirs in sorted(ratios, reverse=True):
        print(f"{ratio:11.3f}  {mine:15,}  {theirs:15,}  {column}, {name}")
    print(*remarks, sep="\n")


if __name__ == "__main__":
    child() if sys.argv[1:] == ["--case"] else main()
