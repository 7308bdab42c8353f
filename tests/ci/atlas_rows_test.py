#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/ci/atlas_rows_test.py HEADROOM: the gate of the atlas. Plans a sample of the rows of each
source in a clean environment: none may be further off than results/atlas has it. Sources with
another PyTorch than that of .deps are left to `ci/atlas --gate`: each would fetch some
gigabytes. And a row that the GPU is too small for has a plan, which says so."""
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TORCH = "2.11.0"
SAMPLE = 20  # of all rows, and at least one of each source; the nightly takes more

sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "ci"))

import atlas_plan  # noqa: E402
import atlas_source  # noqa: E402

TOO_LARGE = "import torch; torch.empty(2**40, device='cuda')"


def check_too_large(headroom: Path):
    row = {"key": "large"}
    facts = {"program": ["python", "-c", TOO_LARGE], "gpu": "a100-40gb"}
    source = atlas_source.Source("made_up", facts, [row], [], [])
    with tempfile.TemporaryDirectory() as home:
        [answer] = atlas_plan.plan(headroom, source, ROOT / ".deps/python/bin/python3", [row],
                                   Path(home))
    if answer["fits"] or answer["failure"]:
        sys.exit(f"a row that is too large for the GPU: {answer}")


def main():
    if not (ROOT / ".deps/programs").is_dir():
        print("ci/bootstrap tests did not install what this needs")
        sys.exit(77)
    sources = [source for source in map(atlas_source.read, atlas_source.names())
               if str(source.facts["environment"]["torch"]) == TORCH
               and (ROOT / f"results/atlas/{source.name}.csv").is_file()]
    check_too_large(Path(sys.argv[1]).resolve())
    every = sum(len(source.rows) for source in sources)
    counts = [max(1, round(SAMPLE * len(source.rows) / every)) for source in sources]
    if sum(counts) < SAMPLE:
        sys.exit(f"{sum(counts)} rows would be gated, not {SAMPLE}")
    for source, rows in zip(sources, counts):
        with tempfile.TemporaryDirectory() as home:
            subprocess.run([ROOT / "ci/atlas", "--headroom", sys.argv[1], "--gate", "--rows",
                            str(rows), "--home", home, source.name], check=True)


main()
