# SPDX-License-Identifier: Apache-2.0
"""A program of the build that a try started, all that it started in turn, and how these end."""
import ctypes
import json
import os
import select
import signal
import subprocess
import time
from pathlib import Path

PATIENCE_S = 60  # with what has to end by itself, on a machine that is busy
PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans():
    """What a killed program leaves behind becomes a child of this process, which so sees it."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children(process) -> list:
    """In the order of their starts, those that were not waited for included."""
    found = []
    for file in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            found += [int(number) for number in file.read_text().split()]
        except OSError:
            pass  # the thread has ended
    return found


def state_and_session(process: int):
    """"?" and 0 where there is no such process."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return "?", 0
    return fields[0], int(fields[3])


def send(process: int, number: int) -> bool:
    """Whether there was such a process."""
    try:
        os.kill(process, number)
    except ProcessLookupError:
        return False
    return True


class StartedProgram:
    """Has a session of its own. Neither headroom nor the workers here make another one: whoever is
    in the session was started by this program."""

    def __init__(self, command, environment, said: Path, printed: Path = Path(os.devnull),
                 folder: Path = Path(".")):
        """`said`: the file for its standard error, `printed`: for its output. It works in
        `folder`."""
        self.said = said
        with said.open("wb") as errors, printed.open("wb") as output:
            self._program = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                stderr=errors, start_new_session=True, cwd=folder)
        self.process = self._program.pid
        self._ended = os.pidfd_open(self.process)  # is readable then
        self.sent = []

    def ends_within(self, seconds: float) -> bool:
        return bool(select.select([self._ended], [], [], max(0, seconds))[0])

    def send(self, number: int):
        """Its number is its own until its exit code is taken."""
        self.sent.append(number)
        os.kill(self.process, number)

    def workers(self) -> list:
        """Its workers that run."""
        return [child for child in children(self.process)
                if state_and_session(child)[0] in "RSDT"]

    def end(self):
        """Its exit code, below 0 a signal; None where it does not end. Once."""
        in_time = self.ends_within(PATIENCE_S)
        if not in_time:
            os.kill(self.process, signal.SIGKILL)
        os.close(self._ended)
        code = self._program.wait()
        return code if in_time else None

    def leaves_nothing(self) -> bool:
        """Whether all that it started ends. For when it has ended itself."""
        until = time.monotonic() + PATIENCE_S
        while left := self._left():
            if time.monotonic() > until:
                for process in left:
                    send(process, signal.SIGKILL)
                return False
            time.sleep(0.001)
        return True

    def _left(self) -> list:
        left = []
        for child in children("self"):
            state, session = state_and_session(child)
            if session != self.process:
                continue
            if state == "Z":
                os.waitpid(child, os.WNOHANG)
            else:
                left.append(child)
        return left


def request_of(worker: int) -> dict:
    """What a worker was asked: headroom gives it as a file. Empty: it is not that far yet."""
    try:
        request = json.loads(Path(f"/proc/{worker}/fd/0").read_bytes())
    except (OSError, ValueError):
        return {}
    return request
