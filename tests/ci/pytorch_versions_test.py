#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ci/pytorch_versions: a version is well where plan and program say the same of both peaks; else
its row says why not."""
import importlib.machinery
import importlib.util
import json
import sys
import tempfile
from pathlib import Path

CI = Path(__file__).resolve().parents[2] / "ci"

PROGRAM = """#!/usr/bin/env python3
import sys
print({process!r})
print("allocated 1000\\nreserved 2000\\nallocated_latest 300", file=sys.stderr)
print("allocated 1005\\nreserved 2005\\nlast line", file=sys.stderr)  # of its bounds
sys.exit({code})
"""

RIGHT = {"peak_allocated_bytes": 1000, "peak_reserved_bytes": 2000,
         "latest_peak_allocated_bytes": 300}
CASES = [
    (RIGHT, 0, "1,000 / 2,000"),
    (RIGHT | {"peak_allocated_bytes": 1001}, 0,
     "peak_allocated_bytes: planned 1001, the program says 1000"),
    (RIGHT | {"peak_reserved_bytes": 200}, 0,
     "peak_reserved_bytes: planned 200, the program says 2000"),
    (RIGHT | {"latest_peak_allocated_bytes": 1000}, 0,
     "latest_peak_allocated_bytes: planned 1000, the program says 300"),
    ({}, 0, "peak_allocated_bytes: planned not known, the program says 1000"),
    (RIGHT, 4, "exit code 4, last line"),
]


def load():
    sys.dont_write_bytecode = True
    name = "pytorch_versions"
    loader = importlib.machinery.SourceFileLoader(name, str(CI / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


def main():
    versions = load()
    with tempfile.TemporaryDirectory() as folder:
        headroom = Path(folder) / "headroom"
        for process, code, expected in CASES:
            answer = json.dumps({"processes": [process]})
            headroom.write_text(PROGRAM.format(process=answer, code=code))
            headroom.chmod(0o755)
            try:
                given = versions.peaks(headroom, Path("python3"), Path("program.py"))
            except versions.Failure as failure:
                given = str(failure)
            assert given == expected, (given, expected)


if __name__ == "__main__":
    main()
