# SPDX-License-Identifier: Apache-2.0
"""Kills: processes of headroom are killed at any moment, and the run is resumed until it is done.
Then all that was done before each kill is there, once, and as it was, and nothing else is."""
import random
import shutil
import sys
import tempfile
import threading
from pathlib import Path

from kept_results import Lost
from killed_run import KilledRun
from part import Part
from place import Place, Undisturbed
from started_program import adopt_orphans
from work_to_kill import WORKS

AT_ONCE = 4            # a run waits for its workers most of the time
MOST_KILLED_RUNS = 12  # of one results folder
REAL_EVERY = 100       # tries, beginning with the 99th: a real worker takes a second to start
POINTS_EVERY = 3       # other tries: killed at a system call
WORKS_OF_POINTS = [work for work in WORKS if work.name in ("alone", "ranks")]


class Kills(Part):
    def __init__(self):
        super().__init__("kills", __doc__)
        memory = Path("/dev/shm")  # a disk would be waited for most of the time
        self.folder = Path(tempfile.mkdtemp(prefix="headroom-kills-",
                                            dir=memory if memory.is_dir() else None))
        self.works = [work for work in WORKS if work.program(self.build).exists()]
        self._undisturbed = {}
        self._lock = threading.Lock()
        self.preloaded = {}  # by work: what it leaves with failing_calls before it
        self.points = []     # (work, point): all of them
        self.met = set()
        for work in WORKS_OF_POINTS:
            self.preloaded[work.name] = Undisturbed(work, self.build, self.folder / "undisturbed",
                                                    is_counted=True)
            self.points += [(work, point) for point in self.preloaded[work.name].points]
        random.Random(0).shuffle(self.points)

    def undisturbed(self, work) -> Undisturbed:
        with self._lock:
            if work.name not in self._undisturbed:
                folder = self.folder / "undisturbed"
                self._undisturbed[work.name] = Undisturbed(work, self.build, folder)
            return self._undisturbed[work.name]

    def attempt(self, seed: int):
        dice = random.Random(seed)
        is_real = seed % REAL_EVERY == REAL_EVERY - 1 and any(work.is_real for work in self.works)
        at_point = not is_real and seed % POINTS_EVERY == 0
        if at_point:
            work, point = self.points[seed // POINTS_EVERY % len(self.points)]
            undisturbed = self.preloaded[work.name]
        else:
            work = dice.choice([work for work in self.works if work.is_real == is_real])
            undisturbed = self.undisturbed(work)
        self.count("tries_with_the_real_worker", is_real)
        folder = self.folder / str(seed)
        folder.mkdir()
        run = KilledRun(Place(work, self.build, folder), undisturbed, dice, self.count)
        try:
            if at_point:
                self.kill_at_points(run, point, dice)
            else:
                self.kill_at_moments(run, dice)
            run.check()
        except Lost as lost:
            self.finding(f"{work.name}, {'; '.join(run.story)}: {lost} (kept: {folder})",
                         f"python3 tests/campaign/kills.py --tries 1 --seed {seed}")
            return
        shutil.rmtree(folder)

    def kill_at_points(self, run: KilledRun, point, dice: random.Random):
        """At this point, then at others that a resumed run may have or not."""
        work = run.place.work
        if run.once_to(point):
            self.met.add((work.name, point))
        while dice.random() < 0.6:
            run.once_to(dice.choice(run.undisturbed.points))
        # Rows know of LD_PRELOAD.
        self._resume(run, run.place.preloaded(run.place.folder / "calls", []))

    def kill_at_moments(self, run: KilledRun, dice: random.Random):
        kinds = ["runner"] * 6 + ["group", "worker", "worker", "pause", "interrupt"]
        if run.place.work.launched:
            kinds += ["agent"] * 3
        for _ in range(dice.randint(1, MOST_KILLED_RUNS)):
            longest = run.undisturbed.seconds * (run.share_left() + 0.1)
            stops = sorted(dice.uniform(0, longest) for _ in range(dice.choice([1, 1, 2])))
            run.once([(at, dice.choice(kinds)) for at in stops], {})
            if run.is_done():
                break
        self._resume(run, {})

    def _resume(self, run: KilledRun, variables: dict):
        """Until it is done, and once more, which changes nothing."""
        run.once([], variables)
        before = run.place.journals()
        run.once([], variables)
        if run.place.journals() != before:
            raise Lost("to resume what is done changes the journal")


def main() -> int:
    adopt_orphans()
    kills = Kills()
    kills.run(kills.attempt, AT_ONCE)
    kills.counts["kills"] = sum(number for what, number in kills.counts.items()
                                if what.startswith("kills_"))
    kills.counts["system_calls_met"] = len(kills.met)
    kills.counts["system_calls_in_all"] = len(kills.points)
    if not kills.findings:
        shutil.rmtree(kills.folder)
    return kills.end()


if __name__ == "__main__":
    sys.exit(main())
