#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/ci/atlas_rows_test.py HEADROOM: plans a row of each source of the atlas in a clean
environment, and finds what results/atlas has. Sources with another PyTorch than that of .deps are
the nightly's: each would fetch some gigabytes."""
import csv
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TORCH = "2.11.0"
SAME = 0.002  # of reserved memory: it moves with what a machine's CPU makes PyTorch choose

sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "ci"))

import atlas_source  # noqa: E402


def planned(file: Path) -> dict:
    with open(file, newline="") as lines:
        return {(row["key"], row["figure"]): int(row["peak"])
                for row in csv.DictReader(lines) if row["figure"] != "step"}


def main():
    if not (ROOT / ".deps/programs").is_dir():
        print("ci/bootstrap tests did not install what this needs")
        sys.exit(77)
    for name in atlas_source.names():
        source = atlas_source.read(name)
        if str(source.facts["environment"]["torch"]) != TORCH:
            continue
        results = ROOT / f"results/atlas/{name}.csv"
        kept = planned(results) if results.is_file() else {}
        first = next((key for (key, _), peak in kept.items() if peak > 0), None)
        if first is None:  # none of its rows is planned yet
            continue
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(
                [ROOT / "ci/atlas", "--headroom", sys.argv[1], "--only", first, "--jobs", "1",
                 "--home", f"{folder}/home", "--out", f"{folder}/out", name], check=True)
            found = planned(Path(folder) / f"out/{name}.csv")
        for (key, figure), peak in found.items():
            if abs(peak / kept[key, figure] - 1) > SAME:
                sys.exit(f"{name}, {key}, {figure}: {peak} bytes are planned, "
                         f"{kept[key, figure]} are kept")


main()
