# SPDX-License-Identifier: Apache-2.0
"""Tells the dry run when the program begins PyTorch's peaks anew, and what is held then. Run by the
dry run in the program."""
import ctypes

begin_peaks = ctypes.CDLL(None).headroom_dry_run_begin_peaks
begin_peaks.argtypes = ctypes.c_int, ctypes.c_int64, ctypes.c_int64


def begin():
    from torch import _C
    reset_peaks = _C._cuda_resetPeakMemoryStats

    def reset_and_tell(device):
        reset_peaks(device)
        held = _C._cuda_memoryStats(device)
        begin_peaks(device, *(held[which]["all"]["current"]
                              for which in ("allocated_bytes", "reserved_bytes")))

    _C._cuda_resetPeakMemoryStats = reset_and_tell


once_initialized(begin)
