# SPDX-License-Identifier: Apache-2.0
"""How each call may fail, and all faults that a run can meet."""
import random

from failing_calls import Fault, Log

# What a signal, a full pipe or a reader's pace cause: the call is to be made again. Never for ever.
PASSING = ("EINTR", "EAGAIN")
# What nobody may notice.
INVISIBLE = (*PASSING, "short")

OPENING = "EMFILE ENFILE EIO ENOMEM"
READING = "EIO EINTR short"
WRITING = "ENOSPC EIO EDQUOT EINTR short"
FLUSHING = "EIO ENOSPC EINTR"
LOOKING = "EIO ENOMEM"

# As their manual pages have it, for regular files, folders, pipes and processes. What is not here
# can't fail where headroom calls it: clock_gettime, lseek in a file in memory.
ACTIONS = {
    "open": OPENING + " EINTR", "open64": OPENING + " EINTR", "openat": OPENING,
    "fopen64": OPENING,
    "mkostemp": "EMFILE ENOSPC EIO", "mkdtemp": "ENOSPC EIO", "memfd_create": "EMFILE ENOMEM",
    "close": "EIO ENOSPC EINTR",
    "read": READING, "pread": READING, "pread64": READING,
    "write": WRITING, "pwrite": WRITING, "pwrite64": WRITING, "writev": WRITING,
    "fsync": FLUSHING, "fdatasync": FLUSHING, "ftruncate": "EIO EINTR",
    "ftruncate64": "EIO EINTR",
    "fchmod": "EIO EROFS", "flock": "ENOLCK EINTR EAGAIN", "fcntl": "EMFILE", "dup2": "EMFILE",
    "stat": LOOKING, "lstat": LOOKING, "fstat": LOOKING, "access": LOOKING,
    "stat64": LOOKING, "fstat64": LOOKING, "fcntl64": "EIO",
    "rename": "EIO ENOSPC", "unlink": "EIO", "unlinkat": "EIO", "remove": "EIO", "rmdir": "EIO",
    "mkdir": "ENOSPC EIO", "fdopendir": "ENOMEM", "readdir": "EIO", "readlink": "EIO",
    "mmap": "ENOMEM", "fork": "EAGAIN ENOMEM", "execve": "EACCES ENOMEM",
    "pipe2": "EMFILE ENFILE", "signalfd": "EMFILE ENOMEM", "poll": "EINTR ENOMEM",
    "waitpid": "EINTR", "waitid": "EINTR", "syscall": "EMFILE ENOMEM",
    "recv": "ECONNRESET EAGAIN EINTR short", "send": "ECONNRESET EAGAIN EINTR short",
    "socket": "EMFILE", "accept4": "EMFILE EINTR", "connect": "ETIMEDOUT EINTR",
}


# How often a run with workers makes these depends on who comes first. So many are tried.
UNSTEADY = {"read": 150, "poll": 50, "waitid": 50}


def possible_faults(log: Log) -> list:
    """Each call of an undisturbed run with each way to fail, once and for ever, in an order that
    mixes them and is always the same."""
    counts = log.calls | (UNSTEADY if log.calls.get("fork") else {})
    faults = []
    for call, actions in ACTIONS.items():
        for number in range(1, counts.get(call, 0) + 1):
            for action in actions.split():
                faults.append(Fault(call, number, action))
                if action not in PASSING:
                    faults.append(Fault(call, number, action, True))
    random.Random(1).shuffle(faults)
    return faults
