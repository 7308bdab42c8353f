# SPDX-License-Identifier: Apache-2.0
"""Processes that take 1 GiB, begin PyTorch's peaks anew, and end otherwise than by themselves."""
import os
import signal
import sys

import torch

ENDS = [
    lambda: os._exit(0),
    lambda: os.execv("/bin/true", ["true"]),
    lambda: os.abort(),
    *(lambda number=number: signal.raise_signal(number)
      for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL)),
]


def use_device():
    large = torch.ones(1 << 28, device="cuda")
    del large
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    torch.ones(1 << 20, device="cuda")


signal.signal(signal.SIGINT, signal.SIG_DFL)
for end in ENDS:
    child = os.fork()
    if child == 0:
        use_device()
        end()
    os.waitpid(child, 0)
print("ends", len(ENDS), file=sys.stderr)
