# SPDX-License-Identifier: Apache-2.0
"""One try: some calls fail, headroom is called again, and what both have to leave."""
import errno
import os
import re

from failing_work import RUN, Ended, Place, Undisturbed
from possible_faults import INVISIBLE

EXIT_CODES = (0, 1, 2, 3, 4, 130)
ANNOUNCED = re.compile(r"^\S+ \[\d+/\d+\] (\S+): ", re.MULTILINE)  # "test [1/3] vanilla: ok"

# Of what keeps a record that was measured.
KEEPING = ("pwrite", "fdatasync", "mkostemp", "fchmod", "rename")
# Of what removes a scratch folder. What then is left is for the next run to remove.
REMOVING = ("open", "openat", "fdopendir", "readdir", "fstat", "lstat", "unlinkat", "rmdir",
            "remove", "flock")


class Wrong(Exception):
    """What headroom did that it must not do."""


class Try:
    def __init__(self, undisturbed: Undisturbed, faults: list, place: Place):
        self.undisturbed, self.faults, self.place = undisturbed, faults, place

    def run(self) -> int:
        """Throws Wrong. Returns how many calls failed."""
        work = self.undisturbed.work
        ended = self.place.call(work.arguments, self.faults)
        self._check_end(ended)
        met = sum(self.place.read_log().met.values())
        self._check_nothing_is_lost(ended)
        differing = self._difference(ended)
        if differing and self._has_only(INVISIBLE):
            raise Wrong(f"somebody notices: {differing}")
        if differing:
            self._check_message(ended, differing)
        self._check_again(self.place.call(work.again or work.arguments))
        return met

    def _has_only(self, actions) -> bool:
        return all(fault.action in actions for fault in self.faults)

    def _has_only_calls(self, calls) -> bool:
        return all(fault.call in calls for fault in self.faults)

    def _check_end(self, ended: Ended):
        if ended.code is None:
            raise Wrong("it does not end")
        if ended.code not in EXIT_CODES:
            raise Wrong(f"it ends with {ended.code}: {ended.said[-300:]}")
        if not ended.leaves_nothing:
            raise Wrong("processes are left that do not end")
        if "this is a fault of headroom" in ended.said:
            raise Wrong(f"it takes the blame: {ended.said[-300:]}")

    def _check_nothing_is_lost(self, ended: Ended):
        kept = self.place.journal()
        for case in ANNOUNCED.findall(ended.said):
            if f'"case":"{case}",' not in kept:
                raise Wrong(f"{case} was announced, and is not in the journal")
        measures = self.undisturbed.work.name == "run"  # else logs are of a plan, or an earlier run
        if measures and self._can_speak() and self._has_only_calls(KEEPING):
            for case in self.place.cases_with_a_log():
                if f'"case":"{case}",' not in kept + ended.said:
                    raise Wrong(f"{case} was measured, and is nowhere")

    def _can_speak(self) -> bool:
        """Whether what it writes to standard error comes there."""
        return not any(fault.call == "write" for fault in self.faults)

    def _check_message(self, ended: Ended, differing: str):
        """It, or the row of the case, has to name the reason."""
        reasons = {os.strerror(getattr(errno, fault.action)) for fault in self.faults
                   if hasattr(errno, fault.action)}
        said = ended.said + ended.printed
        if self._can_speak() and not any(reason in said for reason in reasons):
            raise Wrong(f"it names no reason: {ended.code}, {said[-300:]}; {differing}")

    def _difference(self, ended: Ended) -> str:
        """From the undisturbed one. Empty: there is none."""
        expected = self.undisturbed.ended
        if ended.code != expected.code:
            return f"it ends with {ended.code}: {ended.said[-300:]}"
        if differing := difference(self.place.rows(), self.undisturbed.rows):
            return differing
        if ended.printed != expected.printed:
            return f"it prints {ended.printed!r}"
        return "" if self.place.outputs() == self.undisturbed.outputs else "another file is written"

    def _check_again(self, again: Ended):
        """A row that says that there were too few descriptors stays."""
        lasting = {case: row for case, row in self.place.rows().items()
                   if row["status"] == "unsupported"
                   and row["reason"].endswith(os.strerror(errno.EMFILE))}
        if not lasting:
            differing = self._difference(again)
        else:
            differing = difference(self.place.rows(), self.undisturbed.rows | lasting)
        if differing:
            raise Wrong(f"called again with no fault, {differing}")
        if any(fault.call in REMOVING for fault in self.faults):
            self._clean_up()
        files, whole = set(self.place.files()), set(self.undisturbed.files)
        # Of a case that could not be started the log may be what could not be opened.
        if files - whole or (whole - files and not lasting):
            raise Wrong(f"the folder should have {whole - files} and not {files - whole}")
        verified = self.place.call(("verify", "out"))
        if not lasting and verified != self.undisturbed.verified:
            raise Wrong(f"verify says {verified}")

    def _clean_up(self):
        """As the next run does that needs a scratch folder."""
        if self.place.has_scratch():
            self.place.call((*RUN[:-1], "another"))
            self.place.remove("another")


def difference(rows: dict, expected: dict) -> str:
    """The first one."""
    for case in expected | rows:
        for name in expected.get(case, {}) | rows.get(case, {}):
            here, there = rows.get(case, {}).get(name), expected.get(case, {}).get(name)
            if here != there:
                return f"{case}: {name} is {here!r}, not {there!r}"
    return ""
