# SPDX-License-Identifier: Apache-2.0
"""The part `fuzz` of a campaign: hostile files and messages.

By --seconds libFuzzer runs each target of tests/campaign/fuzz for its share of them, compiled by
clang under sanitizers into build/fuzz, from the inputs kept in tests/corpus/fuzz; inputs that reach
what none has reached are kept there. By --tries the built tree's fuzz_replay takes the kept inputs,
and so many mutations of them for each target.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from part import ROOT, Part

FUZZED = ROOT / "build/fuzz"
KEPT = ROOT / "tests/corpus/fuzz"
# Suites, that is YAML files, are inputs of these targets too.
SUITES = [ROOT / "configs", ROOT / "tests/corpus/yaml"]
READ_SUITES = ("yaml", "suite")
LIMITS = ["-rss_limit_mb=1024", "-malloc_limit_mb=256", "-timeout=20", "-max_len=16384"]
# What is freed is kept for a while, to see who uses it; as much as a short input needs. To walk the
# stack at each allocation takes most of the time: a report tells who allocated by its last calls.
SANITIZERS = {"ASAN_OPTIONS": "quarantine_size_mb=16:malloc_context_size=3",
              "UBSAN_OPTIONS": "print_stacktrace=1"}
MOST_KEPT_BYTES = 1_000_000
MOST_BYTES_OF_KEPT = 4096  # of one input
PROCESSORS = len(os.sched_getaffinity(0))
EXCERPT_LINES = 12  # of what a target said that ended


def words_of(value) -> set:
    """The texts in a JSON value, keys included."""
    if isinstance(value, dict):
        return set(value).union(*map(words_of, value.values()))
    if isinstance(value, list):
        return set().union(*map(words_of, value))
    return {value} if isinstance(value, str) else set()


def write_dictionary(catalog: Path, path: Path):
    """The catalog's names, which no fuzzer guesses: fields, choices, techniques, columns."""
    words = {word for word in words_of(json.loads(catalog.read_text()))
             if re.fullmatch(r"[A-Za-z0-9_.:-]{2,40}", word)}
    path.write_text("".join(f'"{word}"\n' for word in sorted(words)))


def bytes_of(files) -> int:
    return sum(file.stat().st_size for file in files if file.is_file())


class Fuzz(Part):
    def __init__(self):
        super().__init__("fuzz", __doc__)
        self.catalog = self.build / "catalog.json"
        self.keeping = threading.Lock()

    def folders(self, target: str) -> list:
        """Where the target's kept inputs lie."""
        return [KEPT / target, *(SUITES if target in READ_SUITES else [])]

    def call(self, *arguments) -> subprocess.CompletedProcess:
        """Runs a program, whose temporary files lie in memory where there is room for them."""
        memory = {"TMPDIR": "/dev/shm"} if os.access("/dev/shm", os.W_OK) else {}
        return subprocess.run([str(one) for one in arguments], cwd=ROOT, text=True,
                              env=os.environ | SANITIZERS | memory, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def report(self, target: str, output: str, reproducer: str):
        lines = [line for line in output.splitlines() if not line.startswith(("#", "INFO:"))]
        self.finding(f"{target}\n    " + "\n    ".join(lines[:EXCERPT_LINES]), reproducer)

    def of_each(self, attempt, targets: list):
        """Calls attempt(target) for each, side by side on the processors that there are."""
        with ThreadPoolExecutor(PROCESSORS) as pool:
            list(pool.map(attempt, targets))

    def replay(self):
        """Has each target take its kept inputs, and mutations of them."""
        program = self.build / "fuzz_replay"

        def attempt(target: str):
            call = [program, target, self.arguments.tries, self.arguments.seed,
                    *self.folders(target)]
            result = self.call(*call)
            executions = re.fullmatch(r"(\d+) inputs\n", result.stdout)
            if result.returncode == 0 and executions:
                self.count("executions", int(executions[1]))
            else:
                self.report(target, result.stdout, " ".join(map(str, call)))

        self.of_each(attempt, self.call(program).stdout.split())

    def compile(self):
        """Brings build/fuzz up to date."""
        configure = ["cmake", "--preset", "fuzz", f"-DHEADROOM_CATALOG={self.catalog}",
                     f"-DCMAKE_CXX_COMPILER_LAUNCHER={shutil.which('ccache') or ''}"]
        for command in (configure, ["cmake", "--build", "--preset", "fuzz"]):
            result = self.call(*command)
            if result.returncode != 0:
                raise SystemExit(f"fuzz: error: {FUZZED} can't be built:\n{result.stdout[-3000:]}")

    def fuzz(self):
        """Runs each target for its share of the time, then keeps the inputs that it found."""
        self.compile()
        self.begin()
        dictionary = FUZZED / "dictionary"
        write_dictionary(self.catalog, dictionary)
        (FUZZED / "findings").mkdir(exist_ok=True)
        targets = self.call(self.build / "fuzz_replay").stdout.split()
        # 0 would be no limit to libFuzzer.
        share = max(1, int(self.seconds_left() * PROCESSORS / len(targets)))

        def attempt(target: str):
            found = FUZZED / "corpus" / target
            for folder in (found, KEPT / target):
                folder.mkdir(parents=True, exist_ok=True)
            result = self.call(FUZZED / f"fuzz_{target}", f"-max_total_time={share}",
                               f"-seed={self.arguments.seed}", f"-dict={dictionary}", *LIMITS,
                               f"-artifact_prefix={FUZZED}/findings/{target}-",
                               "-print_final_stats=1", found, *self.folders(target))
            self.take(target, result)
            self.keep(target, found)

        self.of_each(attempt, targets)

    def keep(self, target: str, found: Path):
        """Adds to the kept inputs the smallest of those found that reach what none of them does, as
        many as there is room for."""
        kept, chosen = KEPT / target, FUZZED / "chosen" / target
        shutil.rmtree(chosen, ignore_errors=True)
        shutil.copytree(kept, chosen)
        self.call(FUZZED / f"fuzz_{target}", "-merge=1", "-use_counters=0",
                  f"-max_len={MOST_BYTES_OF_KEPT}", chosen, found)
        new = [file for file in chosen.iterdir() if not (kept / file.name).exists()]
        with self.keeping:
            room = MOST_KEPT_BYTES - bytes_of(KEPT.rglob("*"))
            for file in sorted(new, key=lambda file: file.stat().st_size):
                room -= file.stat().st_size
                if room < 0:
                    break
                shutil.copy(file, kept)

    def take(self, target: str, result: subprocess.CompletedProcess):
        """Counts what libFuzzer says it did."""
        executions = re.findall(r"stat::number_of_executed_units: *(\d+)", result.stdout)
        edges = re.findall(r" cov: (\d+)", result.stdout)
        self.count("executions", int(executions[-1]) if executions else 0)
        self.count(f"executions of {target}", int(executions[-1]) if executions else 0)
        self.count(f"edges of {target}", int(edges[-1]) if edges else 0)
        if result.returncode != 0:
            crash = re.findall(r"Test unit written to (\S+)", result.stdout)
            program = (FUZZED / f"fuzz_{target}").relative_to(ROOT)
            self.report(target, result.stdout, " ".join([str(program), *crash[-1:]]))


def main() -> int:
    part = Fuzz()
    if not (part.build / "fuzz_replay").exists():
        raise SystemExit(f"fuzz: error: {part.build} has no fuzz_replay; ci/build dev makes it")
    if part.arguments.tries:
        part.replay()
    else:
        part.fuzz()
    return part.end()


if __name__ == "__main__":
    sys.exit(main())
