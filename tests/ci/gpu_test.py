#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/ci/gpu_test.py HEADROOM: ci/gpu with no GPU, and that it goes on where it ended."""
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("doctor", "kernels", "allocator", "llama_train.py")


def run(folder: str, *words: str) -> subprocess.CompletedProcess:
    return subprocess.run([ROOT / "ci/gpu", "--headroom", sys.argv[1], "--planned", "h100", "--out",
                           folder, *words], capture_output=True, text=True)


def expect(ended: subprocess.CompletedProcess, code: int, begun: tuple):
    found = tuple(line.removeprefix("gpu: ") for line in ended.stderr.splitlines()
                  if line.startswith("gpu: ") and " " not in line.removeprefix("gpu: "))
    if (ended.returncode, found) != (code, begun):
        sys.exit(f"exit code {ended.returncode}, begun {found}; expected {code}, {begun}\n"
                 f"{ended.stderr}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        expect(run(folder, "--minutes", "0", *PARTS), 0, ())
        expect(run(folder, *PARTS), 0, PARTS)
        expect(run(folder, *PARTS), 0, ())
        (Path(folder) / "doctor/done").unlink()
        expect(run(folder, *PARTS), 0, ("doctor",))
        summary = (Path(folder) / "summary.md").read_text()
        for line in ("## allocator", "| product 8192 torch.bfloat16 | 14"):
            if line not in summary:
                sys.exit(f"{line}: not in\n{summary}")
        expect(run(folder, "no_part"), 2, ())


main()
