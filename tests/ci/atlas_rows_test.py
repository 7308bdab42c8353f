#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/ci/atlas_rows_test.py HEADROOM: the gate of the atlas. Plans a sample of the rows of each
source in a clean environment: none may be further off than results/atlas has it. Sources with
another PyTorch than that of .deps are left to `ci/atlas --gate`: each would fetch some
gigabytes."""
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TORCH = "2.11.0"
MOST_ROWS = 12  # of a source; of a small one a quarter: 60 in all

sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "ci"))

import atlas_source  # noqa: E402


def main():
    if not (ROOT / ".deps/programs").is_dir():
        print("ci/bootstrap tests did not install what this needs")
        sys.exit(77)
    gated = 0
    for name in atlas_source.names():
        source = atlas_source.read(name)
        is_kept = (ROOT / f"results/atlas/{name}.csv").is_file()
        if str(source.facts["environment"]["torch"]) != TORCH or not is_kept:
            continue
        rows = min(MOST_ROWS, len(source.rows) // 4)
        gated += rows
        with tempfile.TemporaryDirectory() as home:
            subprocess.run([ROOT / "ci/atlas", "--headroom", sys.argv[1], "--gate", "--rows",
                            str(rows), "--home", home, name], check=True)
    if gated < 60:
        sys.exit(f"{gated} rows were gated, not 60")


main()
