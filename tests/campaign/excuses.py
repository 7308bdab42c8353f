# SPDX-License-Identifier: Apache-2.0
"""The rows that kills of workers, ranks and agents may have made others than undisturbed ones."""
import re

# What a row says then, by its status. The number is that of the rank.
KILLED = r"(?:rank (\d+) of \d+: )?the worker ended by signal 9 \(Killed\)"
CUT_OFF = r"rank (\d+) of \d+: the connection to \S+ was lost: .*"
REASONS = {
    "crashed": re.compile(KILLED + " in .*, with no record"),
    "failed": re.compile(CUT_OFF + r"(?<!after its record)"),
    "ok": re.compile(f"(?:{KILLED}|{CUT_OFF},) after its record"),
}


class Excuses:
    def __init__(self):
        self._kills = []

    def __bool__(self):
        return bool(self._kills)

    def add(self, case=None, rank=None):
        """A kill. None: of which case, or of which rank, is not known."""
        self._kills.append((case, rank))

    def cover(self, row: dict, expected: dict) -> bool:
        """Whether the row says that its worker was killed or its agent lost, and which of the ranks
        it was, and that is so. A kill of an unknown case covers one row."""
        reason = REASONS.get(row["status"])
        said = reason and reason.fullmatch(row["reason"])
        if not said or (row["status"] == "ok" and row | {"reason": ""} != expected):
            return False
        rank = int(next(filter(None, said.groups()), 0))
        for kill in self._kills:
            if kill[0] in (row["case"], None) and kill[1] in (rank, None):
                if None in kill:
                    self._kills.remove(kill)
                return True
        return False
