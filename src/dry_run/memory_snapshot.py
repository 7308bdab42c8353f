# SPDX-License-Identifier: Apache-2.0
"""What PyTorch's allocator did, for https://pytorch.org/memory_viz, in a file when the program
ends. Run by the dry run in the program."""
import atexit
import os
import sys

FILE = os.environ["HEADROOM_DRY_RUN_SNAPSHOT"]  # of rank 0


def end():
    import torch
    rank = int(os.environ.get("RANK") or 0)
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        rank = torch.distributed.get_rank()
    base, ending = os.path.splitext(FILE)
    try:
        torch.cuda.memory._dump_snapshot(f"{base}.rank{rank}{ending}" if rank > 0 else FILE)
    except Exception as error:
        print(f"headroom: there is no snapshot: {error!r}", file=sys.stderr)


def begin():
    import torch
    torch.cuda.memory._record_memory_history(context="all", stacks="python")
    atexit.register(end)


once_initialized(begin)
