# SPDX-License-Identifier: Apache-2.0
"""Runs in one results folder that are killed and resumed until all is done, and what has to be
there then."""
import random
import re
import signal
import time

import failing_calls
from call_points import CallPoint
from excuses import Excuses
from kept_results import Lost, announced
from place import Place, Undisturbed
from stops import Stops

WRONG_CASE = re.compile(r".*?: wrong: (\S*?): ")  # a line of verify
INTERRUPTED = 130


class KilledRun:
    def __init__(self, place: Place, undisturbed: Undisturbed, dice: random.Random, count):
        """`count(what)` is told of what is done and compared."""
        self.place, self.undisturbed, self.count = place, undisturbed, count
        self.story = []  # what was done and when, for whoever has to reproduce it
        self._excuses = Excuses()
        self._stops = Stops(dice, self._excuses, count)

    def is_done(self) -> bool:
        return self.share_left() == 0

    def share_left(self) -> float:
        """Of the cases."""
        done = sum(len(kept.rows()) for kept in self.place.results.values())
        return 1 - done / sum(len(rows) for rows in self.undisturbed.rows.values())

    def once_to(self, point: CallPoint) -> bool:
        """A run that is killed at a system call. Whether the call came. Throws Lost."""
        self.story.append(f"killed {point}")
        log = self.place.folder / f"calls{self.place.starts}"
        code = self.once([], self.place.preloaded(log, point.faults()), may_be_killed=True)
        if not point.has_come(failing_calls.read_log(log)):
            return False
        if code != -signal.SIGKILL:
            self._excuses.add()  # it was a child, on its way to a worker
        self.count("kills_at_a_system_call")
        return True

    def once(self, stops: list, variables: dict, may_be_killed: bool = False):
        """A run, and the runner's exit code. `stops`: (seconds after its start, what is done to it
        then), in their order. Throws Lost."""
        before = self.place.written_at()
        if any(kept.cases() for kept in self.place.results.values()):
            self.count("resumes")
        programs = self.place.start(variables)
        begin = time.monotonic()
        try:
            for at, what in stops:
                if programs[0].ends_within(begin + at - time.monotonic()):
                    break
                self.story.append(f"{what} at {at * 1e3:.1f} ms")
                self._stops.apply(what, programs)
            self._stops.as_a_launcher(programs, have_met=self.place.written_at() != before)
        finally:
            codes = [program.end() for program in programs]
            ended = [program.leaves_nothing() for program in programs]
        self.story.append(f"ended with {codes}")
        if may_be_killed:
            programs[0].sent.append(signal.SIGKILL)
        self._check_ends(programs, codes, ended)
        said = announced(self.place.said())
        for name, kept in self.place.results.items():
            kept.look(said.get(name, []))
        return codes[0]

    def _check_ends(self, programs, codes, ended):
        is_disturbed = any(program.sent for program in programs)
        for program, code, expected in zip(programs, codes, self.undisturbed.codes):
            allowed = {expected} | {-number for number in program.sent}
            if self._excuses:
                allowed.add(1)  # a row that failed
            if is_disturbed:
                allowed.add(INTERRUPTED)
            if is_disturbed and len(programs) > 1:
                allowed |= {0, 1}  # the others' ends, by who was lost
            if code not in allowed:
                raise Lost(f"it ended with {code}, allowed are {sorted(allowed)}; it said: "
                           + program.said.read_text()[-2000:])
        if not all(ended):
            raise Lost("processes are left that do not end")

    def check(self):
        """That all is there now, and nothing else. Throws Lost."""
        differing = set()
        for name, kept in self.place.results.items():
            expected = self.undisturbed.rows[name]
            if kept.cases() != list(expected):
                raise Lost(f"the journal has the cases {kept.cases()}")
            if kept.files() != self.undisturbed.files[name]:
                raise Lost(f"the results folder has {kept.files()}")
            if (kept.folder / "suite.yaml").read_text() != self.undisturbed.suites[name]:
                raise Lost("suite.yaml is another one")
            differing |= self._check_rows(kept.rows(), expected)
        if litter := list(self.place.scratch.iterdir()):
            raise Lost(f"TMPDIR has {litter}")
        wrong = self.place.wrong() ^ self.undisturbed.wrong
        if wrong := [line for line in wrong if WRONG_CASE.match(line)[1] not in differing]:
            raise Lost(f"verify finds, or finds no more, {wrong}")

    def _check_rows(self, rows: dict, expected: dict) -> set:
        """The cases whose rows are others since their workers or agents were killed."""
        differing = set()
        for case, row in rows.items():
            row = self.place.work.columns(row)
            self.count("rows_compared")
            if row == expected[case]:
                continue
            differing.add(case)
            # Without its reference this case's loss is not found out.
            if case == "shifted" and row["status"] == "ok" and "vanilla" in differing:
                continue
            if not self._excuses.cover(row, expected[case]):
                raise Lost(f"the row of {case} is {row}, undisturbed {expected[case]}")
        return differing
