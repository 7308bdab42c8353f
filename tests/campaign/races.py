#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs what has threads or signals under ThreadSanitizer, in an order and at moments drawn anew
with each seed. A try is one test program; a finding is a report of the sanitizer, or a test that
fails. The tree of the preset tsan is built and used, whatever --build says.
"""
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from part import Part, ROOT

TREE = ROOT / "build/tsan"
REPORTS = TREE / "reports"
TIMEOUT_S = 900


@dataclass(frozen=True)
class Tests:
    program: str
    names: str  # a filter of gtest
    shards: int = 1  # a try runs one of them


# Without LibTorch first: where tries are counted, no more is built than they run.
ALL_TESTS = [
    Tests("workers_test", "*"),
    Tests("dry_run_parts_test", "*Threads*"),
    Tests("data_test", "Loader*:Workers/*"),
    Tests("memory_test", "*"),
    # Not what bounds a time, nor what asks for the number of threads that is set below.
    Tests("runner_test", "Interrupt*:Signals/*:Agents*:Rank*:Inherited*"
                         "-RankKill*:Agents.serve_the_cases_that_need_them", 4),
]


def tests_of(seed: int) -> Tests:
    return ALL_TESTS[(seed - 1) % len(ALL_TESTS)]


class Races:
    def __init__(self, part: Part):
        self.part = part

    def build(self):
        """What the tries will run. LibTorch is needed for some of it, and takes minutes."""
        first, tries = self.part.arguments.seed, self.part.arguments.tries or len(ALL_TESTS)
        programs = {tests_of(seed).program for seed in range(first, first + tries)}
        environment = os.environ | {"BUILD_TARGETS": " ".join(sorted(programs))}
        if subprocess.run(["ci/build", "tsan"], cwd=ROOT, env=environment).returncode != 0:
            sys.exit("races: error: the tests can't be built")

    def attempt(self, seed: int):
        tests = tests_of(seed)
        reports = REPORTS / f"{tests.program}.{seed}"
        shutil.rmtree(reports, ignore_errors=True)
        reports.mkdir(parents=True)
        changes, call = command(tests, seed, reports)
        shown = " ".join([f"{name}='{value}'" for name, value in changes.items()] + call)
        try:
            run = subprocess.run(call, cwd=ROOT, env=os.environ | changes, timeout=TIMEOUT_S,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                 errors="replace")
            self.judge(tests, reports, run, shown)
        except subprocess.TimeoutExpired:
            self.part.finding(f"{tests.program} takes more than {TIMEOUT_S} s", shown)

    def judge(self, tests: Tests, reports: Path, run, shown: str):
        passed = re.findall(r"\[  PASSED  \] (\d+) test", run.stdout)
        self.part.count("tests", sum(map(int, passed)))
        summaries = set()
        for report in reports.iterdir():
            self.part.count("reports")
            summaries.update(re.findall(r"^SUMMARY: (.*)$", report.read_text(), re.M))
        for summary in sorted(summaries):
            self.part.finding(f"{tests.program}: {summary}", shown)
        if run.returncode != 0 and not summaries:
            (reports / "output").write_text(run.stdout)
            failed = sorted(set(re.findall(r"\[  FAILED  \] ([\w./]+)", run.stdout)))
            self.part.finding(f"{tests.program} ends with {run.returncode}: {', '.join(failed)}; "
                              f"its output is in {reports.relative_to(ROOT)}", shown)
        elif not summaries:
            shutil.rmtree(reports)


def command(tests: Tests, seed: int, reports: Path) -> tuple[dict[str, str], list[str]]:
    """The changes to the environment, and the command line."""
    shard = (seed - 1) // len(ALL_TESTS) % tests.shards
    return ({"TSAN_OPTIONS": f"log_path={reports}/report", "OMP_NUM_THREADS": "1",
             "GTEST_TOTAL_SHARDS": str(tests.shards), "GTEST_SHARD_INDEX": str(shard)},
            # Of a program in the background, or under nohup, tests that send one wait for ever.
            ["env", "--default-signal=INT,QUIT,HUP",
             f"{TREE.relative_to(ROOT)}/{tests.program}", f"--gtest_filter={tests.names}",
             "--gtest_shuffle", f"--gtest_random_seed={seed % 99999 + 1}"])


def main() -> int:
    part = Part("races", __doc__)
    races = Races(part)
    races.build()
    part.begin()
    part.run(races.attempt)
    return part.end()


if __name__ == "__main__":
    sys.exit(main())
