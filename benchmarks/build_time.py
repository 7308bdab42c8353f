#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""benchmarks/build_time.py [REVISION...]: how long the release build takes from nothing, without
ccache: by the clock, and in minutes of a processor. Default: HEAD's parent and the working tree.

Each revision is a worktree in build/build_time. Nothing else should run on the machine meanwhile.
"""
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "ci"))
from revisions import commit_of, git, worktree  # noqa: E402  the folder stands in the line above

FOLDER = ROOT / "build/build_time"


def run(*call, cwd: Path):
    environment = {**os.environ, "CCACHE_DISABLE": "1"}
    subprocess.run(call, cwd=cwd, check=True, stdout=subprocess.DEVNULL, env=environment)


def processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def build(tree: Path, jobs: str) -> tuple:
    """The steps of a build from nothing, its seconds by the clock, and of a processor."""
    folder = tree / "build/timed"
    shutil.rmtree(folder, ignore_errors=True)
    run("cmake", "--preset", "release", "-B", folder, cwd=tree)
    commands = subprocess.run(["ninja", "-C", folder, "-t", "commands"], capture_output=True)
    steps = len(commands.stdout.splitlines())
    begin, used = time.monotonic(), processor_seconds()
    run("cmake", "--build", folder, "--parallel", jobs, cwd=tree)
    return steps, time.monotonic() - begin, processor_seconds() - used


def main() -> int:
    if any(argument.startswith("-") for argument in sys.argv[1:]):
        print(__doc__, file=sys.stderr)
        return 2
    subprocess.run([ROOT / "ci/bootstrap"], check=True)
    jobs = subprocess.run([ROOT / "ci/jobs"], capture_output=True, text=True).stdout.strip()
    trees = {"working tree": ROOT}
    if sys.argv[1:]:
        trees = {name: worktree(FOLDER, commit_of(name)) for name in sys.argv[1:]}
    elif commit_of("HEAD^"):
        trees = {"HEAD^": worktree(FOLDER, commit_of("HEAD^")), **trees}
    print(f"{jobs} jobs, no ccache\n\n| tree | commit | steps | clock, min | processor, min |")
    print("| --- | --- | --: | --: | --: |")
    for name, tree in trees.items():
        steps, clock, used = build(tree, jobs)
        commit = git("-C", tree, "rev-parse", "--short=10", "HEAD")
        print(f"| {name} | {commit} | {steps} | {clock / 60:.1f} | {used / 60:.1f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
