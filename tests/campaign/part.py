# SPDX-License-Identifier: Apache-2.0
"""What the parts of a campaign share (ci/campaign): how long they try, what they count and find.

A part is a program PART.py of this folder. It tries one thing after another, each from a seed of
its own, until its time or its number of tries is spent; it counts what it did, and prints a line
for each finding, with what reproduces it. Its exit code is 1 where it found something.
"""
import argparse
import collections
import itertools
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Part:
    def __init__(self, name: str, description: str):
        """Reads the command line."""
        parser = argparse.ArgumentParser(description=description)
        budget = parser.add_mutually_exclusive_group(required=True)
        budget.add_argument("--seconds", type=float, help="try for so long")
        budget.add_argument("--tries", type=int, help="try so often")
        parser.add_argument("--seed", type=int, default=1, help="of the first try")
        parser.add_argument("--build", type=Path, default=ROOT / "build/dev", help="a built tree")
        parser.add_argument("--counts", type=Path, help="the file to append the counts to")
        self.arguments = parser.parse_args()
        if self.arguments.tries is not None and self.arguments.tries < 1:
            parser.error("--tries is less than 1")
        self.build = self.arguments.build.resolve()
        self.name = name
        self.counts = collections.Counter()
        self.findings = 0
        self._begin = time.monotonic()
        self._lock = threading.Lock()

    def count(self, what: str, by: int = 1):
        with self._lock:
            self.counts[what] += by

    def finding(self, what: str, reproducer: str):
        """`reproducer` is a command line, to be run from the root of the project."""
        with self._lock:
            self.findings += 1
            print(f"finding: {what}\n  reproduce: {reproducer}", flush=True)

    def begin(self):
        """Has the time begin now, and not at the start: what was built before does not count."""
        self._begin = time.monotonic()

    def seconds_left(self) -> float:
        """Infinite where tries are counted."""
        if self.arguments.seconds is None:
            return float("inf")
        return self.arguments.seconds - (time.monotonic() - self._begin)

    def run(self, attempt, threads: int = os.cpu_count()):
        """Calls attempt(seed) with one seed after the other, some side by side. An exception of
        an attempt is a fault of the part itself: it ends all of them, and is raised."""
        seeds = itertools.count(self.arguments.seed)
        last = self.arguments.seed + (self.arguments.tries or sys.maxsize)
        faults = []

        def work():
            try:
                while not faults and self.seconds_left() > 0:
                    with self._lock:
                        seed = next(seeds)
                    if seed >= last:
                        return
                    attempt(seed)
                    self.count("tries")
            except BaseException as fault:
                faults.append(fault)

        workers = [threading.Thread(target=work) for _ in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        if faults:
            raise faults[0]

    def end(self) -> int:
        """Prints the counts and keeps them. Returns the exit code."""
        seconds = round(time.monotonic() - self._begin)
        counts = dict(sorted(self.counts.items()))
        print(f"{self.name}: {self.findings} findings in {seconds} s; "
              + ", ".join(f"{number} {what}" for what, number in counts.items()))
        if self.arguments.counts:
            line = {"part": self.name, "date": time.strftime("%Y-%m-%d"), "commit": commit(),
                    "seconds": seconds, "findings": self.findings, "counts": counts}
            with self.arguments.counts.open("a") as file:
                file.write(json.dumps(line) + "\n")
        return 1 if self.findings else 0


def commit() -> str:
    call = ["git", "-C", ROOT, "describe", "--always", "--dirty", "--abbrev=10", "--match="]
    return subprocess.run(call, capture_output=True, text=True).stdout.strip()
