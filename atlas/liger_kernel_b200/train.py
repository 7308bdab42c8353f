# SPDX-License-Identifier: Apache-2.0
"""Runs benchmarks of Liger-Kernel by its own scripts, which its package of sources has, a row each:
first its time, then its memory, as the scripts do (source.yaml)."""
import fcntl
import importlib
import json
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import torch
import transformers.models.llama.modeling_llama  # noqa: F401, which scripts import, for all rows
import triton

import rows

VERSION = version("liger-kernel")
NAME = f"liger_kernel-{VERSION}"  # of the archive and of what it holds
CACHE = Path(os.environ["XDG_CACHE_HOME"])

torch.set_num_threads(1)


def sources() -> Path:
    folder = CACHE / NAME
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / "lock", "w") as lock, tempfile.TemporaryDirectory(dir=CACHE) as made:
        fcntl.flock(lock, fcntl.LOCK_EX)  # rows are planned beside one another
        if not folder.is_dir():
            alone = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
            subprocess.run(["pip", "download", "--quiet", "--no-deps", "--no-binary=:all:",
                            f"--dest={made}", f"liger-kernel=={VERSION}"], env=alone, check=True)
            shutil.unpack_archive(f"{made}/{NAME}.tar.gz", made)
            os.rename(f"{made}/{NAME}", folder)
    return folder


def benchmarks(script, kernel) -> dict:
    """What a script measures of a kernel: a function each for speed and memory."""
    found = {}

    def keep(bench_test_fn, kernel_name, metric_name, **_):
        if kernel_name == kernel:
            found[metric_name] = bench_test_fn

    importlib.import_module("utils").run_benchmarks = keep
    sys.argv = [script]
    runpy.run_path(script, run_name="__main__")
    return found


def measure(_, row):
    config = json.loads(row["config"])
    if "dtype" in config:
        config["dtype"] = getattr(torch, config["dtype"].removeprefix("torch."))
    x = int(row["x"]) if row["x"].isdigit() else row["x"]
    found = benchmarks(f"{folder}/benchmark/scripts/benchmark_{row['script']}.py", row["kernel"])

    def run(what, mode=row["mode"]):
        of_row = importlib.import_module("utils").SingleBenchmarkRunInput
        found[what](of_row(x, row["provider"], mode, config))

    if row["ms"]:
        triton.testing.do_bench = timed
        run("speed")
    if row["allocated_mib"]:
        triton.testing.do_bench = once
        run("speed", "full")  # the scripts took all times before; threads keep cuBLAS's workspaces
        run("memory")


def timed(step, grad_to_none=None, **_) -> tuple:
    rows.timed(step, grad_to_none or ())
    return 0, 0, 0


def once(step, **_) -> tuple:
    step()
    return 0, 0, 0


folder = sources()
sys.path[:0] = [str(folder / "benchmark/scripts"), str(folder)]
rows.each(lambda row: None, measure, group="script")
