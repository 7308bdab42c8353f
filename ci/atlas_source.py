# SPDX-License-Identifier: Apache-2.0
"""A source of the atlas, atlas/README.md: what somebody measured, and how to plan the same."""
import csv
import sys
import zlib
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ATLAS = ROOT / "atlas"
UNITS = {"B": 1, "MB": 10**6, "GB": 10**9, "MiB": 2**20, "GiB": 2**30, "ms": 10**6, "s": 10**9}
WHAT = ("allocated", "reserved", "driver", "step")  # a step: its time
KEYS = {"what", "repository", "commit", "file", "licence", "software", "measured", "unsaid",
        "assumed", "environment", "program", "gpu"}
OPTIONAL = {"others", "ranks", "rank", "groups", "causes", "variables", "batches", "fits"}

sys.path.append(str(ROOT / ".deps/programs"))  # where PyYAML is not installed


class SourceError(Exception):
    pass


@dataclass
class Figure:
    """A column of rows.csv: `what` of WHAT, or the name of who estimated it."""
    what: str
    column: str
    unit: str
    how: str = ""
    since_reset: bool = False  # the program began the peak anew, and read it later
    of_mean_gpu: bool = False  # of all that runs on a GPU, the mean over the GPUs

    def value_of(self, row: dict) -> float:
        """Bytes, or nanoseconds. None: the row has none."""
        text = row.get(self.column, "")
        return float(text) * UNITS[self.unit] if text else None


@dataclass
class Source:
    name: str
    facts: dict
    rows: list
    measured: list
    others: list
    causes: list = field(default_factory=list)

    @property
    def folder(self) -> Path:
        return ATLAS / self.name

    @property
    def program_folder(self) -> Path:
        """Of the program and what it imports: the source's own, or another's that it shares."""
        script = str(self.facts["program"][1]).replace("{folder}", str(self.folder))
        return Path(script).resolve().parent

    @property
    def gpu_files(self) -> list:
        return sorted(set(self.folder.glob("*.yaml")) - {self.folder / "source.yaml"})

    def environment_of(self, row: dict) -> dict:
        """The version of PyTorch, and the packages: a column's name in braces is the row's."""
        facts = self.facts["environment"]
        return {"torch": row.get("torch") or str(facts["torch"]),
                "packages": [package.format(**row) for package in facts.get("packages", ())]}

    def gpu_of(self, row: dict) -> str:
        gpu = row.get("gpu") or self.facts["gpu"]
        return str(self.folder / gpu) if gpu.endswith(".yaml") else gpu

    def cause_of(self, row: dict, is_inside: bool) -> str:
        """Why the plan of the row is off, where that is known; empty: it is not. `is_inside`: the
        figure lies in the plan's interval."""
        for cause in self.causes:
            where = cause.get("where")
            if row["key"] in cause.get("keys", ()) or (is_inside and cause.get("inside")) or (
                    where and all(row.get(column) == value for column, value in where.items())):
                return " ".join(cause["cause"].split())
        return ""


def is_of_the_tenth(key: str) -> bool:
    """The tenth of the rows that assumptions may be tried on, and the constant is fitted on."""
    return zlib.crc32(key.encode()) % 10 == 0


def names() -> list:
    return sorted(path.parent.name for path in ATLAS.glob("*/source.yaml"))


def read(name: str) -> Source:
    import yaml
    file = ATLAS / name / "source.yaml"
    facts = yaml.safe_load(file.read_text())
    if missing := KEYS - facts.keys():
        raise SourceError(f"{file}: {', '.join(sorted(missing))} is missing")
    if unknown := facts.keys() - KEYS - OPTIONAL:
        raise SourceError(f"{file}: {', '.join(sorted(unknown))}: no source has that")
    with open(file.with_name("rows.csv"), newline="") as lines:
        rows = list(csv.DictReader(lines))
    keys = [row["key"] for row in rows]
    if len(set(keys)) != len(keys):
        raise SourceError(f"{file.with_name('rows.csv')}: a key stands there twice")
    measured = [Figure(**figure) for figure in facts["measured"]]
    others = [Figure(**figure) for figure in facts.get("others", ())]
    for figure in measured + others:
        if figure.unit not in UNITS or figure.column not in rows[0]:
            raise SourceError(f"{file}: {figure.column} in {figure.unit}: no such column or unit")
    for figure in measured:
        if figure.what not in WHAT:
            raise SourceError(f"{file}: {figure.what}: allowed is {', '.join(WHAT)}")
    if fits := facts.get("fits"):
        wrong = {row.get(fits["column"]) for row in rows} - {"yes", "no", ""}
        if wrong:
            raise SourceError(f"{file}: {fits['column']}: a row has {wrong.pop()}, allowed is yes, "
                              "no or nothing")
    return Source(name, facts, rows, measured, others, facts.get("causes", []))
