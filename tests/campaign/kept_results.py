# SPDX-License-Identifier: Apache-2.0
"""What a run that was killed has to have kept in its results folder, and what may not be there."""
import csv
import io
import json
import re
import zlib
from pathlib import Path

ANNOUNCED = re.compile(r"^(\S+) \[\d+/\d+\] (\S+): ", re.MULTILINE)  # "SUITE [1/5] CASE: ok"


class Lost(Exception):
    """What was kept is not what had to be: says what."""


def announced(said: str) -> dict:
    """The cases that a run said were done, by their suite."""
    cases = {}
    for suite, case in ANNOUNCED.findall(said):
        cases.setdefault(suite, []).append(case)
    return cases


def read_rows(path: Path) -> dict:
    """By case. Empty where there is no file."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {row["case"]: row for row in csv.DictReader(io.StringIO(file.read()), strict=True)}


def read_record(line: bytes) -> dict:
    record = json.loads(line)
    checksum = record.pop("crc32")
    text = b"{" + line[len(b'{"crc32":"01234567",'):]
    if checksum != f"{zlib.crc32(text):08x}":
        raise Lost(f"the journal has a damaged line: {line[:60]}")
    return record


class KeptResults:
    """The results folder of a suite, looked at after each run, however that ended."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._journal = b""  # as far as it was whole
        self._stamps = {}    # of the logs of cases that are done: nobody may write there again

    def cases(self) -> list:
        """Those that are done, in the order in which they were."""
        records = [read_record(line) for line in self._journal.splitlines()]
        return [record["case"] for record in records[1:]]

    def rows(self) -> dict:
        return read_rows(self.folder / "results.csv")

    def look(self, announced_cases: list):
        """Throws Lost where something is gone, is there twice, or was measured again."""
        path = self.folder / "journal.jsonl"
        text = path.read_bytes() if path.exists() else b""
        whole = text[:text.rfind(b"\n") + 1]
        if not whole.startswith(self._journal):
            raise Lost(f"{path}: {len(self._journal)} bytes were there before, and are not now")
        self._journal = whole
        cases = self.cases()
        if len(cases) != len(set(cases)):
            raise Lost(f"a case is there twice: {cases}")
        if missing := set(announced_cases) - set(cases):
            raise Lost(f"announced as done, and not in the journal: {missing}")
        rows = list(self.rows())
        if not set(rows) <= set(cases) or len(rows) < len(cases) - 1:
            raise Lost(f"results.csv has rows of {rows}, the journal of {cases}")
        self._check_stamps(cases)

    def _check_stamps(self, cases: list):
        for case in cases:
            log = self.folder / "log" / f"{case}.log"
            stamp = log.stat().st_mtime_ns if log.exists() else None
            if self._stamps.setdefault(case, stamp) != stamp:
                raise Lost(f"{case} was done, and its worker has written again")

    def files(self) -> list:
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*"))
