#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts the bugs of mutations.txt into a copy of the project, one at a time, and runs tests from
the nearest to the farthest until one fails. A bug that no test finds is a finding.

The seed is the number of a bug. With --seconds, a bug that was tried at this commit is not tried
again: the next call goes on where this one was. The build's own tests, without the bug, tell
whether a failure is the bug's.
"""
import dataclasses
import re
import subprocess
import sys

from part import ROOT, Part, commit
from scratch_tree import BuildFailed, ScratchTree

LIST = ROOT / "tests/campaign/mutations.txt"
FOLDER = "mutations"  # below the build's


@dataclasses.dataclass
class Mutation:
    number: int
    file: str
    harm: str
    old: str
    new: str

    def changed(self) -> str:
        return (ROOT / self.file).read_text(encoding="utf-8").replace(self.old, self.new)


def read_list() -> list:
    """Ends the program where the list is wrong: each text has to stand once in its file."""
    text = "\n".join(line for line in LIST.read_text().splitlines() if not line.startswith("#"))
    mutations = []
    for number, entry in enumerate(filter(None, re.split(r"\n\n+", text.strip())), 1):
        head, *lines = entry.splitlines()
        file, _, harm = head.partition(": ")
        old = "\n".join(line[2:] for line in lines if line.startswith("- "))
        new = "\n".join(line[2:] for line in lines if line.startswith("+"))
        where = f"{LIST.name}: number {number}, {file}"
        if not harm or not old or old == new or any(line[0] not in "-+" for line in lines):
            sys.exit(f"{where}: expected FILE: HARM, then lines of '- ' and of '+ '")
        path = ROOT / file
        found = path.read_text(encoding="utf-8").count(old) if path.is_file() else 0
        if found != 1:
            sys.exit(f"{where}: its text is there {found} times, and has to be there once")
        mutations.append(Mutation(number, file, harm, old, new))
    return mutations


class Mutations(Part):
    def __init__(self):
        super().__init__("mutations", __doc__)
        folder = self.build / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        self.list = read_list()
        self.tree = ScratchTree(folder / "tree")
        self.tried = folder / f"tried_at_{commit()}.txt"

    def chosen(self) -> list:
        first, tries = self.arguments.seed, self.arguments.tries
        if tries is not None:
            return self.list[first - 1 : first - 1 + tries]
        is_known = self.tried.exists() and not self.tried.stem.endswith("-dirty")
        done = {int(line.split()[0]) for line in self.tried.open()} if is_known else set()
        return [mutation for mutation in self.list[first - 1 :] if mutation.number not in done]

    def try_all(self):
        for mutation in self.chosen():
            if self.seconds_left() <= 0:
                break
            found_by = self.try_one(mutation)
            self.count("tries")
            self.count("found" if found_by else "survived")
            print(f"{mutation.number} {mutation.file}: {mutation.harm}: "
                  + (f"found by {found_by}" if found_by else "survived"), flush=True)
            if not found_by:
                self.finding(f"no test finds number {mutation.number}: {mutation.harm}",
                             f"tests/campaign/mutations.py --seed {mutation.number} --tries 1")
            with self.tried.open("a") as file:
                file.write(f"{mutation.number} {found_by or 'survived'}\n")

    def try_one(self, mutation: Mutation) -> str:
        """Gives what found it; an empty text: nothing did."""
        self.tree.write(mutation.file, mutation.changed().encode())
        try:
            return self.search(mutation)
        except BuildFailed as failure:
            if "static assertion failed" in str(failure):
                return "a static_assert"
            sys.exit(f"number {mutation.number} can't be built:\n{failure}")
        finally:
            self.tree.write(mutation.file, (ROOT / mutation.file).read_bytes())

    def search(self, mutation: Mutation) -> str:
        for program in self.tree.programs_of(mutation.file):
            self.tree.build(program)
            name = program.removesuffix("_test")
            failed = self.tree.failing_test(rf"^{name}(\.|_[0-9]+$|$)")
            if failed and self.proves(program, failed[1]):
                return failed[0] if failed[0].endswith(failed[1]) else " ".join(failed)
        self.tree.build("headroom")
        failed = self.tree.failing_test(f"^({'|'.join(self.tree.script_entries())})$")
        return failed[0] if failed else ""

    def proves(self, program: str, test: str) -> bool:
        """Whether that test fails again, and passes where the bug is not: else it was by chance."""
        def passes(folder) -> bool:
            call = [folder / program, f"--gtest_filter={test}"]
            return subprocess.run(call, capture_output=True).returncode == 0

        if not passes(self.tree.build_folder) and passes(self.build):
            return True
        print(f"{program} {test}: failed by chance, or fails without the bug too", flush=True)
        self.count("failures by chance")
        return False


def main() -> int:
    part = Mutations()
    try:
        part.try_all()
    except KeyboardInterrupt:
        print("interrupted: what was tried so far counts", flush=True)
    if part.counts["tries"]:
        print(f"{100 * part.counts['found'] / part.counts['tries']:.1f} % of the bugs were found")
    return part.end()


if __name__ == "__main__":
    sys.exit(main())
