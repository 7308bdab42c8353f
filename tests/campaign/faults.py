# SPDX-License-Identifier: Apache-2.0
"""Faults: calls of the C library fail, once and for ever, one after the other, and sometimes one
more while headroom deals with the first. Whatever fails, headroom ends, says what failed, and keeps
what was measured; called again, it does what it does where nothing fails."""
import random
import shutil
import sys
import tempfile
from pathlib import Path

from failing_calls import Fault
from failing_try import Try, Wrong
from failing_work import Undisturbed, works_of
from part import Part
from possible_faults import possible_faults
from started_program import adopt_orphans

AT_ONCE = 4        # a run waits for the disk and for its workers most of the time
PAIRS_EACH = 4     # one of so many tries has a second fault
LATEST_SECOND = 4  # calls of its kind behind the first


class Faults(Part):
    def __init__(self):
        super().__init__("faults", __doc__)
        # In memory: a disk would be waited for most of the time.
        memory = Path("/dev/shm")
        self.folder = Path(tempfile.mkdtemp(prefix="headroom-faults-",
                                            dir=memory if memory.is_dir() else None))
        works = [Undisturbed(work, self.build, self.folder / work.name)
                 for work in works_of(self.build)]
        self.possible = [(work, fault) for work in works for fault in possible_faults(work.log)]
        random.Random(2).shuffle(self.possible)
        self.tried = set()

    def faults_of(self, seed: int):
        """Each possible fault in turn, and now and then one of them with a second one."""
        if seed % PAIRS_EACH != 0:
            turn = (seed - seed // PAIRS_EACH) % len(self.possible)
            self.tried.add(turn)
            work, fault = self.possible[turn]
            return work, [fault]
        dice = random.Random(seed)
        work, first = dice.choice(self.possible)
        second = dice.choice([fault for of, fault in self.possible if of is work])
        number = dice.randint(1, LATEST_SECOND)
        return work, [first, Fault(second.call, number, second.action, second.ever)]

    def attempt(self, seed: int):
        work, faults = self.faults_of(seed)
        folder = self.folder / str(seed)
        try:
            met = Try(work, faults, work.place(folder)).run()
        except Wrong as wrong:
            what = " then ".join(map(str, faults))
            self.finding(f"{work.work.name}, {what}: {wrong} (kept: {folder})",
                         f"python3 tests/campaign/faults.py --tries 1 --seed {seed}")
            return
        self.count("tries_with_two_faults" if len(faults) > 1 else "tries_with_one_fault")
        self.count("calls_that_failed", met)
        self.count("tries_that_met_no_call", met == 0)
        shutil.rmtree(folder)


def main() -> int:
    adopt_orphans()
    faults = Faults()
    faults.run(faults.attempt, AT_ONCE)
    faults.count("distinct_faults_tried", len(faults.tried))
    faults.count("distinct_faults_possible", len(faults.possible))
    if not faults.findings:
        shutil.rmtree(faults.folder)
    return faults.end()


if __name__ == "__main__":
    sys.exit(main())
