#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recipes of docs/results.md do what they say, on results that headroom planned.

    recipes_test.py HEADROOM

Exit code 77: ci/bootstrap did not install what they need.
"""
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ROOT / ".deps/programs"


def recipe(language: str) -> str:
    text = (ROOT / "docs/results.md").read_text(encoding="utf-8")
    return re.search(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE).group(1)


def run(*words):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def main():
    if not (PACKAGES / "duckdb").is_dir():
        sys.exit(77)
    sys.path.insert(0, str(PACKAGES))
    headroom = str(Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for part in ("1", "2"):
            run(headroom, "plan", ROOT / "configs/quickstart.yaml", "--only", "vanilla|sgd$|stack",
                "--shard", f"{part}/2", "--out", f"out/{part}")
        run(headroom, "export", "out", "--format", "jsonl", "--out", "rows.jsonl")

        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(recipe("python"), {})
        saved = {line.split()[0]: line.split()[1:] for line in printed.getvalue().splitlines()}
        assert saved["none"] == ["0.0", "0.0"], saved
        assert 40 < float(saved["sgd"][0]) < 50, saved  # of the BERT, by the README's plan

        import duckdb
        rows = duckdb.sql(recipe("sql").rstrip().rsplit(";", 1)[0]).fetchall()
        assert len(rows) == 10, rows
        case, category, _, size = rows[0]
        assert category in ("optimizer_state", "activations") and size > 80_000_000, rows[0]


if __name__ == "__main__":
    main()
