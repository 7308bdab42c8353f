# SPDX-License-Identifier: Apache-2.0
"""The system calls of a run at which its runner can be killed."""
import dataclasses

from failing_calls import Fault, Log

# All that changes a file or a folder, or decides who may.
CHANGING = ("open open64 openat openat64 fopen fopen64 mkostemp mkdtemp close write pwrite "
            "pwrite64 writev fsync fdatasync ftruncate ftruncate64 fchmod flock rename unlink "
            "unlinkat remove mkdir rmdir").split()
WRITES = ("write", "pwrite", "pwrite64")


@dataclasses.dataclass(frozen=True)
class CallPoint:
    call: str
    number: int  # from 1
    where: str   # "before" the call, "behind" it, or "between" two halves of a write

    def faults(self) -> list:
        if self.where == "between":
            return [Fault(self.call, self.number, "short"), Fault(self.call, 1, "kill")]
        return [Fault(self.call, self.number, "kill" if self.where == "before" else "kill_after")]

    def __str__(self) -> str:
        return f"{self.where} {self.call} {self.number}"

    def has_come(self, log: Log) -> bool:
        return log.met[self.call] == len(self.faults())


def points_of(log: Log) -> list:
    """All points of the run that this log counted."""
    return [CallPoint(call, number, where)
            for call in CHANGING for number in range(1, log.calls.get(call, 0) + 1)
            for where in ("before", "behind", "between")[:3 if call in WRITES else 2]]
