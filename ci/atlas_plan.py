# SPDX-License-Identifier: Apache-2.0
"""Plans the rows of a source of the atlas, in an environment with the source's own packages."""
import itertools
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from atlas_journal import Journal
from atlas_source import ATLAS, ROOT, Source

HOME = ROOT / "build/atlas"  # environments, and what programs leave
TORCH = ROOT / ".deps/python"  # what ci/bootstrap installs
PIP = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile")
ROWS_AT_ONCE = 10  # of one program: all of them are lost with it
MOST_SECONDS = 3000  # of one program
OUT_OF_MEMORY = 3  # exit status of a row, in atlas/rows.py
SAID = re.compile(r"atlas row=(\S+) process=(\d+) status=(-?\d+)$", re.MULTILINE)
ALONE = {
    "HEADROOM_DRY_RUN_HOST_NS": "6000",  # a program runs once more for cuDNN's engines alone
    "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "WANDB_MODE": "disabled",
    "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "PYTHONWARNINGS": "ignore",
}


class PlanError(Exception):
    pass


def run(command: list, **options) -> subprocess.CompletedProcess:
    ended = subprocess.run(command, capture_output=True, text=True, errors="replace", **options)
    if ended.returncode != 0:
        last = (ended.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise PlanError(f"{command[0]}: exit code {ended.returncode}, {last}")
    return ended


def python_of_torch(version: str, home: Path) -> Path:
    """A Python with PyTorch of that version: that of .deps where it is the one."""
    own = TORCH / "bin/python3"
    if run([own, "-c", "import torch; print(torch.__version__)"]).stdout.startswith(version):
        return own
    folder = home / f"torch-{version}"
    python = folder / "bin/python3"
    if not (folder / "made").is_file():
        run([sys.executable, "-m", "venv", "--clear", folder])
        run([python, *PIP, f"torch=={version}"])
        (folder / "made").touch()
    return python


def make_environment(source: Source, wanted: dict, home: Path) -> Path:
    """Gives its Python. PyTorch is shared; what the source pins comes before what PyTorch needs."""
    mark = zlib.crc32(repr(wanted["packages"]).encode())
    folder = home / source.name / f"environment-{wanted['torch']}-{mark:08x}"
    python, stamp = folder / "bin/python3", folder / "made"
    if stamp.is_file():
        return python
    torch = python_of_torch(wanted["torch"], home)
    run([torch, "-m", "venv", "--clear", folder])
    site = run([torch, "-c", "import torch, os; print(os.path.dirname(torch.__path__[0]))"]).stdout
    own = folder / f"lib/python3.{sys.version_info.minor}/site-packages"
    (own / "torch.pth").write_text(site)
    if wanted["packages"]:
        run([python, *PIP, "--no-deps", *wanted["packages"]])
    stamp.touch()
    return python


def command_of(source: Source, python: Path, row: dict) -> list:
    """The program's words. {rows} is a file of rows; a column's name in braces is the row's."""
    words = [str(word) for word in source.facts["program"]]
    known = row | {"folder": str(source.folder)}
    return [python if word == "python" else word.format(**known) for word in words]


def plan(headroom: Path, source: Source, python: Path, rows: list, home: Path) -> list:
    """One program, with the peaks of each row: `rows` are one, or many of one GPU that a program
    forks for. A row whose program failed has its last words in place of peaks."""
    folder = home / source.name / "work" / re.sub(r"[^\w.-]", "_", rows[0]["key"])
    folder.mkdir(parents=True, exist_ok=True)
    # Of an earlier plan it would know which form of a kernel is the fastest, and try none.
    shutil.rmtree(folder / "inductor", ignore_errors=True)
    many = folder / "rows.jsonl"
    many.write_text("".join(json.dumps(row) + "\n" for row in rows))
    ranks = ["--ranks", rows[0].get(source.facts.get("ranks", ""), "") or "1"]
    if "rank" in source.facts:
        ranks += ["--rank", str(source.facts["rank"])]
    command = command_of(source, python, rows[0] | {"rows": str(many)})
    environment = os.environ | ALONE | source.facts.get("variables", {}) | {
        "PATH": f"{python.parent}:{os.environ['PATH']}",
        "PYTHONPATH": f"{source.folder}:{ATLAS}",
        "HF_HOME": str(home / "cache"), "XDG_CACHE_HOME": str(home / "cache"),
        "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"),
        "TRITON_CACHE_DIR": str(home / "cache/triton"),
    }
    ended = subprocess.run(
        ["timeout", "--kill-after=10", str(MOST_SECONDS), headroom, "plan", "--json", "--gpu",
         source.gpu_of(rows[0]), *ranks, "--", *command],
        cwd=folder, env=environment, capture_output=True, text=True, errors="replace")
    (folder / "plan.json").write_text(ended.stdout)
    (folder / "output.txt").write_text(ended.stderr)
    last = (ended.stderr.strip().splitlines() or ["it says nothing"])[-1]
    try:
        planned = json.loads(ended.stdout)
        processes = planned["processes"]
    except (json.JSONDecodeError, KeyError):
        return [{"key": row["key"], "failure": last, "fits": False} for row in rows]
    if "{rows}" not in map(str, source.facts["program"]):
        failure = "" if ended.returncode == 0 or not planned["fits"] else last
        return [{"key": rows[0]["key"], "failure": failure, "fits": planned["fits"],
                 **peaks_of(processes), **mean_of_gpus(processes)}]
    return answers_of(rows, processes, SAID.findall(ended.stderr + "\n" + ended.stdout),
                      f"{folder.name}/output.txt")


def answers_of(rows: list, processes: list, said: list, output: str) -> list:
    """Of a program that forked for each row, and said which process was whose. That process may
    have forked ranks: their numbers are the next ones, round the largest that there is. A plan may
    run the program again for its bounds; the processes are those of the first time."""
    of_row = {key: (int(process), int(status)) for key, process, status in reversed(said)}
    most = int(Path("/proc/sys/kernel/pid_max").read_text())
    families = {process: [] for process, _ in of_row.values()}
    for one in processes:
        first = min(families, default=0, key=lambda first: (one["process"] - first) % most)
        families.setdefault(first, []).append(one)
    answers = []
    for row in rows:
        process, status = of_row.get(row["key"], (-1, 1))
        family = families.get(process, [])
        own = [one for one in family if one["process"] == process]
        # Of several ranks one runs out of memory, and the others are aborted.
        ran_out = status == OUT_OF_MEMORY or (
            status != 0 and any("refused_bytes" in one for one in family))
        failure = "" if own and (status == 0 or ran_out) else f"status {status}, see {output}"
        answers.append({"key": row["key"], "failure": failure, "fits": not ran_out,
                        **peaks_of(own), **mean_of_gpus(family)})
    return answers


def mean_of_gpus(processes: list) -> dict:
    """What nvidia-smi says of each GPU, with all that runs on it, in the mean; and how many
    processes have a context on one."""
    gpus = {}
    for one in processes:
        gpus[one["device"]] = gpus.get(one["device"], 0) + one["driver_peak_bytes"]
    if not gpus:
        return {}
    return {"mean_driver_bytes": round(statistics.mean(gpus.values())),
            "mean_contexts": len(processes) / len(gpus)}


def peaks_of(processes: list) -> dict:
    """Of the process and GPU that reserved most."""
    if not processes:
        return {}
    most = max(processes, key=lambda one: one.get("peak_reserved_bytes", 0))
    kept = ("peak_allocated_bytes", "peak_reserved_bytes", "latest_peak_allocated_bytes",
            "latest_peak_reserved_bytes", "latest_peak_reserved_lower_bytes", "total_bytes",
            "estimated", "libtorch",
            "step_time_estimate_ns", "step_time_estimate_lower_ns", "step_time_estimate_upper_ns")
    return {name: most[name] for name in kept if name in most}


def plan_all(headroom: Path, source: Source, rows: list, jobs: int, minutes: float, home: Path,
             journal: Journal, say) -> None:
    """Plans those rows that the journal lacks. After so many minutes no further program begins."""
    last = time.monotonic() + 60 * minutes
    missing = [row for row in rows if journal.lacks(row["key"])] if minutes > 0 else []
    at_once = ROWS_AT_ONCE if "{rows}" in map(str, source.facts["program"]) else 1
    groups = []
    for _, alike in itertools.groupby(missing, key=lambda row: (source.gpu_of(row),
                                                                source.environment_of(row))):
        alike = list(alike)
        groups += [alike[at:at + at_once] for at in range(0, len(alike), at_once)]
    pythons = {}
    for row in missing:
        wanted = source.environment_of(row)
        if repr(wanted) not in pythons:
            pythons[repr(wanted)] = make_environment(source, wanted, home)

    # Where time ends, what was planned is spread over the rows.
    random.Random(0).shuffle(groups)

    def one(group: list) -> None:
        if time.monotonic() > last:
            return
        python = pythons[repr(source.environment_of(group[0]))]
        journal.add(plan(headroom, source, python, group, home))
        left = sum(journal.lacks(row["key"]) for row in rows)
        say(f"{source.name}: {len(rows) - left} of {len(rows)} rows")

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, groups))
