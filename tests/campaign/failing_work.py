# SPDX-License-Identifier: Apache-2.0
"""The calls of headroom whose system calls fail, and what each leaves where none fails."""
import csv
import dataclasses
import io
import json
import os
import shutil
from pathlib import Path

import failing_calls
from failing_calls import Fault
from started_program import StartedProgram

PROGRAM = "headroom_with_test_catalog"
SUITE = """suite: test
defaults: {model: {name: ok}, data: {name: digits}, train: {work_ms: 0}}
cases:
  - {name: vanilla}
  - {name: exact, techniques: [exact]}
  - {name: two, ranks: 2, model: {name: together}, techniques: [ddp]}
"""
# One of the workers leaves no report of its dry run. Fit tries no larger batch.
PLANNED_SUITE = """suite: test
defaults: {model: {name: dry}, data: {name: digits}, train: {work_ms: 0, batch_size: 512}}
cases:
  - {name: vanilla}
  - {name: untold, model: {name: ok}}
"""
RUN = ("run", "suite.yaml", "--out", "out")
RESUME = (*RUN, "--resume")
PLAN = ("plan", "planned.yaml", "--out", "out")
WRITTEN = ("page.html", "cases.xml", "fit.yaml")

@dataclasses.dataclass(frozen=True)
class Work:
    """A call of headroom."""
    name: str
    arguments: tuple
    results: str       # what is there before: "none", "torn" in the second case, or "whole"
    again: tuple = ()  # how it is called where it failed; empty: as before


WORKS = [
    Work("run", RUN, "none", RESUME),
    Work("resume", RESUME, "torn"),
    Work("verify", ("verify", "out"), "whole"),
    Work("compare", ("compare", "out", "out"), "whole"),
    Work("report", ("report", "out", "--out", "page.html"), "whole"),
    Work("export", ("export", "out", "--format", "junit", "--out", "cases.xml"), "whole"),
    Work("gate", ("gate", "night", "--history", "history.jsonl"), "whole"),
    Work("plan", PLAN, "none", (*PLAN, "--resume")),
    Work("fit", ("fit", "planned.yaml", "--out", "fit.yaml"), "none"),
]


DRY = ("plan", "fit")  # a build without CUDA has no dry run


def works_of(build: Path) -> list:
    has_dry_run = (build / "dry_run/libcuda.so.1").exists()
    return [work for work in WORKS if has_dry_run or work.arguments[0] not in DRY]


@dataclasses.dataclass
class Ended:
    code: int | None  # below 0 a signal; None: it did not end
    said: str
    printed: str
    leaves_nothing: bool


class Place:
    """Where a work is done, with a TMPDIR of its own. Paths in all that is said begin there."""

    def __init__(self, build: Path, folder: Path):
        self.build, self.folder = build, folder
        (folder / "tmp").mkdir(parents=True)
        (folder / "suite.yaml").write_text(SUITE)
        (folder / "planned.yaml").write_text(PLANNED_SUITE)
        (folder / "night").mkdir()  # both sides of it are the same results
        for side in ("old", "new"):
            (folder / "night" / side).symlink_to("../out")

    def call(self, arguments: tuple, faults=()) -> Ended:
        variables = failing_calls.variables(self.build, PROGRAM, self._log(), faults)
        self._log().unlink(missing_ok=True)
        environment = os.environ | variables | {
            "TMPDIR": str(self.folder / "tmp"), "HEADROOM_WORKER": str(self.build / "test_worker")}
        if arguments[0] in DRY:
            environment["TEST_CUDA"] = "1"  # a LibTorch with CUDA
        said, printed = self.folder / "said", self.folder / "printed"
        program = StartedProgram([str(self.build / PROGRAM), *arguments], environment, said,
                                 printed, self.folder)
        return Ended(program.end(), said.read_text(errors="replace"),
                     printed.read_text(errors="replace"), program.leaves_nothing())

    def read_log(self) -> failing_calls.Log:
        return failing_calls.read_log(self._log())

    def rows(self) -> dict:
        """The lasting columns, by case."""
        path = self.folder / "out/results.csv"
        if not path.exists():
            return {}
        rows = {row["case"]: row for row in csv.DictReader(io.StringIO(path.read_text()))}
        for row in rows.values():
            row.pop("started_at")
        return rows

    def journal(self) -> str:
        path = self.folder / "out/journal.jsonl"
        return path.read_text() if path.exists() else ""

    def cases_with_a_log(self) -> list:
        """Those whose workers said something: these answer right after it."""
        logs = (self.folder / "out/log").glob("*.log")
        return [log.stem for log in logs if log.stat().st_size > 0 and ".rank" not in log.stem]

    def has_scratch(self) -> bool:
        return any((self.folder / "tmp").iterdir())

    def remove(self, name: str):
        shutil.rmtree(self.folder / name)

    def files(self) -> list:
        """All but what was said and counted."""
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*")
                      if path.parent != self.folder or path.suffix)

    def outputs(self) -> dict:
        texts = {name: (self.folder / name).read_text() for name in WRITTEN
                 if (self.folder / name).exists()}
        return texts | {"nights": self._nights()}

    def _nights(self) -> list:
        """The lasting columns of the history."""
        path = self.folder / "history.jsonl"
        lines = path.read_text().splitlines()[1:] if path.exists() else []
        return [(night["journals"], night["cases"]) for night in map(json.loads, lines)]

    def _log(self) -> Path:
        return self.folder / "log"


class Undisturbed:
    """What a work leaves where no call fails, and the results that are there before it."""

    def __init__(self, work: Work, build: Path, folder: Path):
        self.work, self.build = work, build
        self.before = folder / "before"
        before = Place(build, self.before)
        if work.results == "whole":
            before.call(RUN)
        if work.results == "torn":
            before.call(RUN, [Fault("pwrite", 3, "short"), Fault("pwrite", 1, "kill")])
        place = self.place(folder / "undisturbed")
        self.ended = place.call(work.arguments)
        self.log = place.read_log()
        self.rows, self.files, self.outputs = place.rows(), place.files(), place.outputs()
        self.verified = place.call(("verify", "out"))

    def place(self, folder: Path) -> Place:
        """A new one, with the results that are there before."""
        place = Place(self.build, folder)
        if (self.before / "out").exists():
            shutil.copytree(self.before / "out", folder / "out")
        return place
