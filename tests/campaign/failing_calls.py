# SPDX-License-Identifier: Apache-2.0
"""Makes calls of a program fail, by the library failing_calls.so (failing_calls.h)."""
import dataclasses
import struct
from pathlib import Path

MOST_FAULTS = 4


@dataclasses.dataclass(frozen=True)
class Fault:
    call: str
    number: int
    action: str
    ever: bool = False

    def __str__(self):
        return f"{self.call}:{self.number}:{self.action}" + (":ever" if self.ever else "")


def variables(build: Path, program: str, log: Path, faults: list) -> dict:
    """What the environment of a program has to hold. Programs that compare their environments need
    the library in all of them, with no fault where there is none."""
    words = [program, str(log), *map(str, faults)]
    # The library stands before a sanitizer's, which asks to be the first.
    return {"LD_PRELOAD": str(build / "failing_calls.so"), "FAILING_CALLS": " ".join(words),
            "ASAN_OPTIONS": "verify_asan_link_order=0"}


@dataclasses.dataclass
class Log:
    calls: dict  # how often each was called
    met: dict    # and how often an action met it


def read_log(path: Path) -> Log:
    counts = path.read_bytes()[MOST_FAULTS * 8:]
    log = Log({}, {})
    for name, calls, met in struct.iter_unpack("16sQQ", counts):
        call = name.rstrip(b"\0").decode()
        log.calls[call], log.met[call] = calls, met
    return log
