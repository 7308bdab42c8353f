# SPDX-License-Identifier: Apache-2.0
"""Where a work is done and killed, and what it leaves where nobody disturbs it."""
import itertools
import os
import re
import shutil
import socket
import subprocess
import threading
import time
from pathlib import Path

import failing_calls
from call_points import points_of
from kept_results import KeptResults
from started_program import StartedProgram
from work_to_kill import Work


class Ports:
    """Three in a row that nobody listens on, below those that the system gives away. Several
    campaigns on one machine take theirs from different ranges: each holds the first port of its
    own, for datagrams, which nobody sends."""
    RANGES = [range(first, first + 3000, 3) for first in (20000, 23000, 26000, 29000)]

    def __init__(self):
        self._held = socket.socket(type=socket.SOCK_DGRAM)
        self._ports = itertools.cycle(next(filter(self._hold, self.RANGES)))
        self._lock = threading.Lock()

    def _hold(self, ports: range) -> bool:
        return self._is_bound(self._held, ports[0])

    def take(self) -> int:
        with self._lock:
            return next(port for port in self._ports
                        if all(self._is_free(port + i) for i in range(3)))

    def _is_free(self, port: int) -> bool:
        with socket.socket() as probe:
            return self._is_bound(probe, port)

    @staticmethod
    def _is_bound(to: socket.socket, port: int) -> bool:
        try:
            to.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


class Place:
    """Where a work is done: its suites, results, and scratch folders."""
    PORTS = Ports()

    def __init__(self, work: Work, build: Path, folder: Path):
        self.work, self.build, self.folder = work, build, folder
        self.out = folder / "out"
        self.scratch = folder / "tmp"
        self.scratch.mkdir()
        (folder / "store").mkdir()
        for name, text in work.suites.items():
            (folder / f"{name}.yaml").write_text(text)
        names = list(work.suites)
        self.results = {name: KeptResults(self.out if len(names) == 1 else self.out / name)
                        for name in names}
        self.starts = 0

    def start(self, variables: dict) -> list:
        """All ranks that a launcher starts, or the one program that there is without one."""
        self.starts += 1
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("RANK", "WORLD_SIZE")}
        environment |= {"TMPDIR": str(self.scratch)} | variables
        if not self.work.is_real:
            environment["HEADROOM_WORKER"] = str(self.build / "test_worker")
        suites = [str(self.folder / f"{name}.yaml") for name in self.work.suites]
        call = [str(self.work.program(self.build)), *self.work.command, *suites,
                "--out", str(self.out), "--resume"]
        if not self.work.launched:
            return [StartedProgram(call, environment, self.folder / "said")]
        environment |= {"WORLD_SIZE": str(self.work.launched),
                        "LOCAL_WORLD_SIZE": str(self.work.launched), "MASTER_ADDR": "127.0.0.1",
                        "MASTER_PORT": str(self.PORTS.take()),
                        "TEST_STORE": str(self.folder / "store" / f"{self.starts}.")}
        return [StartedProgram(call, environment | {"RANK": str(rank), "LOCAL_RANK": str(rank)},
                               self.folder / f"said{rank or ''}")
                for rank in range(self.work.launched)]

    def written_at(self) -> int:
        """When the runner last made or removed a file of its results folder. 0: there is none."""
        return self.out.stat().st_mtime_ns if self.out.exists() else 0

    def preloaded(self, log: Path, faults: list) -> dict:
        """The variables that make calls of its programs fail, and count them in a log."""
        program = self.work.program(self.build).name
        return failing_calls.variables(self.build, program, log, faults)

    def journals(self) -> list:
        return [(kept.folder / "journal.jsonl").read_bytes() for kept in self.results.values()]

    def said(self) -> str:
        return (self.folder / "said").read_text()

    def wrong(self) -> set:
        """What `verify` finds wrong; the test worker's figures are no measurements."""
        call = [self.work.program(self.build), "verify", "out"]
        found = subprocess.run(call, cwd=self.folder, capture_output=True, text=True)
        return set(re.findall(r"^.*: wrong: .*$", found.stdout + found.stderr, re.MULTILINE))


class Undisturbed:
    """What a work leaves where nobody disturbs it."""

    def __init__(self, work: Work, build: Path, folder: Path, is_counted: bool = False):
        """`folder` is to be made, and is gone behind it."""
        folder.mkdir()
        place = Place(work, build, folder)
        log = folder / "calls"
        begin = time.monotonic()
        programs = place.start(place.preloaded(log, []) if is_counted else {})
        self.codes = [program.end() for program in programs]
        self.seconds = time.monotonic() - begin
        self.rows = {name: {case: work.columns(row) for case, row in kept.rows().items()}
                     for name, kept in place.results.items()}
        self.files = {name: kept.files() for name, kept in place.results.items()}
        self.suites = {name: (kept.folder / "suite.yaml").read_text()
                       for name, kept in place.results.items()}
        self.wrong = place.wrong()
        self.points = points_of(failing_calls.read_log(log)) if is_counted else []
        shutil.rmtree(folder)
