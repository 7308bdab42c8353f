# SPDX-License-Identifier: Apache-2.0
"""When the other scripts begin. Run by the dry run in the program, before each of them."""
import sys


def once_initialized(begin):
    """Calls it when PyTorch has initialized CUDA, in a program of PyTorch."""
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    if cuda is None:
        return
    if cuda.is_initialized():
        begin()
    else:  # as torch.cuda._lazy_call() does, whose lock is held here while PyTorch begins
        cuda._queued_calls.append((begin, []))
