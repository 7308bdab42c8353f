#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts the bugs of mutations.txt into the project, each in an overlay of its own, and runs tests
from the nearest to the farthest until one fails. A bug that no test finds is a finding.

The seed is the number of a bug. With --seconds, a bug that was tried at this commit is not tried
again: the next call goes on where this one was. The test that found a bug has to pass without it.
Exit code 4: this machine lets nobody mount an overlay, or have processes of their own.
"""
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from mutation_list import ROOT, Mutation, read_list
from part import Part, commit

MACHINE_LACKS = 4
# A bug may kill all that it can see: it sees an overlay and processes of its own. The first of them
# is a shell, which waits for what others leave behind.
ALONE = [ROOT / "ci/overlay", "unshare", "--pid", "--fork", "--kill-child", "--mount-proc",
         "bash", "-c", '"$@"; exit $?', "bash"]


class Mutations(Part):
    def __init__(self):
        super().__init__("mutations", __doc__)
        self.list = read_list()
        self.tried = self.build / f"mutations_tried_at_{commit()}.txt"
        self.jobs = int(subprocess.run([ROOT / "ci/jobs"], capture_output=True, check=True).stdout)

    def chosen(self) -> list:
        first, tries = self.arguments.seed, self.arguments.tries
        if tries is not None:
            return self.list[first - 1 : first - 1 + tries]
        is_known = self.tried.exists() and not self.tried.stem.endswith("-dirty")
        done = {int(line.split()[0]) for line in self.tried.open()} if is_known else set()
        return [mutation for mutation in self.list[first - 1 :] if mutation.number not in done]

    def try_all(self):
        pool = ThreadPoolExecutor(self.jobs)
        try:
            list(pool.map(self.try_one, self.chosen()))
        finally:
            pool.shutdown(cancel_futures=True)

    def try_one(self, mutation: Mutation):
        if self.seconds_left() <= 0:
            return
        reproducer = f"tests/campaign/mutations.py --seed {mutation.number} --tries 1"
        found_by = self.search(mutation)
        if found_by is None:
            return self.finding(f"number {mutation.number} could not be tried", reproducer)
        self.count("tries")
        self.count("found" if found_by else "survived")
        print(f"{mutation.number} {mutation.file}: {mutation.harm}: "
              + (f"found by {found_by}" if found_by else "survived"), flush=True)
        if not found_by:
            self.finding(f"no test finds number {mutation.number}: {mutation.harm}", reproducer)
        with self.tried.open("a") as file:
            file.write(f"{mutation.number} {found_by or 'survived'}\n")

    def search(self, mutation: Mutation):
        """Gives what found it; an empty text: nothing did; None: that could not be tried."""
        say_nothing = []
        while True:
            call = [*ALONE, sys.executable, ROOT / "tests/campaign/find_mutation.py",
                    str(mutation.number), self.build, *say_nothing]
            ended = subprocess.run(call, stdout=subprocess.PIPE, text=True)
            if ended.returncode != 0:
                return None
            found = json.loads(ended.stdout)
            if not found or not found["program"] or self.passes(**found):
                return " ".join(found.values()).strip() if found else ""
            print(f"{found['test']} fails without number {mutation.number} too", flush=True)
            self.count("failures by chance")
            say_nothing.append(found["test"])

    def passes(self, program: str, test: str) -> bool:
        """Where the bug is not."""
        call = [*ALONE, self.build / program, f"--gtest_filter={test}"]
        return subprocess.run(call, capture_output=True).returncode == 0


def main() -> int:
    part = Mutations()
    if subprocess.run([*ALONE, "true"]).returncode != 0:
        return MACHINE_LACKS
    try:
        part.try_all()
    except KeyboardInterrupt:
        print("interrupted: what was tried so far counts", flush=True)
    if part.counts["tries"]:
        print(f"{100 * part.counts['found'] / part.counts['tries']:.1f} % of the bugs were found")
    return part.end()


if __name__ == "__main__":
    sys.exit(main())
