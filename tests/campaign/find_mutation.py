#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""find_mutation.py NUMBER BUILD [TEST...]: puts one bug of mutations.txt into this tree, which is
an overlay (ci/overlay), and runs tests from the nearest to the farthest until one fails; TEST: of
which a failure says nothing.

Prints what found it as JSON, {"program": ..., "test": ...}; null: nothing did.
"""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from mutation_list import ROOT, read_list

PROGRAM = re.compile(r"^(\w+_test): CXX_EXECUTABLE_LINKER", re.MULTILINE)
FAILED_ENTRY = re.compile(r"^\s*\d+ - (\S+) \((?!Not Run)", re.MULTILINE)
FAILED_TEST = re.compile(r"\[  FAILED  \] ([\w/]+\.[\w/]+)")
STARTED_TEST = re.compile(r"\[ RUN      \] ([\w/]+\.[\w/]+)")
# Entries of ctest that compile for minutes.
COMPILES = re.compile("^(adding$|campaign_)")
HANGS_AFTER_S = 300


def answer_of(*call) -> str:
    return subprocess.run(call, capture_output=True, text=True, check=True).stdout


class BuildFailed(Exception):
    """What the compiler said."""


class Tree:
    def __init__(self, build: Path):
        self.build_folder = build
        # Of each test program: the files and targets that it is made of.
        self._inputs = {program: self._ninja("inputs", program).splitlines()
                        for program in PROGRAM.findall(self._ninja("targets", "all"))}

    def build(self, *targets: str):
        call = ["cmake", "--build", self.build_folder, "--parallel", "1", "--target", *targets]
        ended = subprocess.run(call, capture_output=True, text=True)
        if ended.returncode != 0:
            raise BuildFailed(ended.stdout[-20000:] + ended.stderr[-5000:])

    def programs_of(self, name: str) -> list:
        """The test programs that a source file is a part of, or of a program that they start: that
        of its own folder first, then those that are made of less."""
        objects = self._objects_of(ROOT / name)
        own = Path(name).parent.name + "_test"
        known = [program for program, inputs in self._inputs.items() if objects & set(inputs)]
        return sorted(known, key=lambda program: (program != own, len(self._inputs[program])))

    def script_entries(self) -> list:
        """The entries of ctest that are no test program: they look at scripts and kept results."""
        answer = answer_of("ctest", "--test-dir", self.build_folder, "--show-only=json-v1")
        commands = {test["name"]: test.get("command", [""]) for test in json.loads(answer)["tests"]}
        return [name for name, command in commands.items()
                if command[0] and Path(command[0]).name not in self._inputs
                and not COMPILES.match(name)]

    def failing_test(self, entries: str, left_out: list):
        """Runs the entries of ctest whose names match, until one fails: (entry, the test in it);
        None: all pass."""
        call = ["ctest", "--test-dir", self.build_folder, "--tests-regex", entries]
        call += ["--stop-on-failure", "--output-on-failure", "--no-tests=error"]
        without = {**os.environ, "GTEST_FILTER": "-" + ":".join(left_out)} if left_out else None
        # A test may print any bytes.
        ended = subprocess.run(call, env=without, capture_output=True, text=True, errors="replace")
        if ended.returncode == 0:
            return None
        entry = FAILED_ENTRY.search(ended.stdout)
        assert entry, ended.stdout[-3000:] + ended.stderr[-3000:]
        tests = FAILED_TEST.findall(ended.stdout) or STARTED_TEST.findall(ended.stdout)[-1:]
        return entry[1], tests[0] if tests else ""

    def _objects_of(self, path: Path) -> set:
        """Those that are compiled from a source file, or from what includes a header."""
        objects, current = set(), ""
        for line in self._ninja("deps").splitlines():
            if line and not line[0].isspace():
                current = line.partition(": #deps")[0]
            elif os.path.normpath(self.build_folder / line.strip()) == str(path):
                objects.add(current)
        return objects

    def _ninja(self, tool: str, *arguments: str) -> str:
        return answer_of("ninja", "-C", self.build_folder, "-t", tool, *arguments)


def fails_again(program: Path, test: str) -> bool:
    call = [program, f"--gtest_filter={test}"]
    try:
        return subprocess.run(call, capture_output=True, timeout=HANGS_AFTER_S).returncode != 0
    except subprocess.TimeoutExpired:
        return True


def search(tree: Tree, file: str, left_out: list):
    for program in tree.programs_of(file):
        tree.build(program)
        name = program.removesuffix("_test")
        by_chance = list(left_out)
        while failed := tree.failing_test(rf"^{name}(\.|_[0-9]+$|$)", by_chance):
            if not failed[1] or fails_again(tree.build_folder / program, failed[1]):
                return {"program": program, "test": failed[1]}
            by_chance.append(failed[1])  # the tests behind it have not run yet
    tree.build("headroom")
    failed = tree.failing_test(f"^({'|'.join(tree.script_entries())})$", [])
    return {"program": "", "test": failed[0]} if failed else None


def main() -> int:
    if "HEADROOM_OVERLAY" not in os.environ:
        sys.exit("this changes the tree: it is run by ci/overlay")
    mutation = read_list()[int(sys.argv[1]) - 1]
    tree = Tree(Path(sys.argv[2]))
    (ROOT / mutation.file).write_text(mutation.changed(), encoding="utf-8")
    try:
        print(json.dumps(search(tree, mutation.file, sys.argv[3:])))
    except BuildFailed as failure:
        if "static assertion failed" not in str(failure):
            sys.exit(f"number {mutation.number} can't be built:\n{failure}")
        print(json.dumps({"program": "", "test": "a static_assert"}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
