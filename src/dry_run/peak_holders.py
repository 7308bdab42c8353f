# SPDX-License-Identifier: Apache-2.0
"""What holds the peak of allocated memory. Run by the dry run in a program of PyTorch, which it has
record each allocation with the lines of Python that led to it; evaluated when the program ends.

Sizes are the allocator's own, as the dry run was told them (headroom_dry_run_blocks). Which block
is a parameter, a gradient or the state of an optimizer, the optimizers' own hooks say.
"""
import atexit
import bisect
import collections
import ctypes
import itertools
import json
import os
import sys

FOLDER = os.environ["HEADROOM_DRY_RUN_HOLDERS"]
MOST_STEPS = 8  # that are looked at for parameters, gradients and state


def harmless(function):
    """What goes wrong here, with a PyTorch that has something otherwise, is not the program's."""
    def call(*arguments):
        try:
            function(*arguments)
        except Exception as error:
            print(f"headroom: what holds the peak is not known: {error!r}", file=sys.stderr)
    return call


class Block(ctypes.Structure):
    _fields_ = [("address", ctypes.c_uint64), ("bytes", ctypes.c_int64)]


library = ctypes.CDLL(None)
library.headroom_dry_run_blocks.restype = ctypes.POINTER(Block)
library.headroom_dry_run_blocks.argtypes = [ctypes.c_int, ctypes.POINTER(ctypes.c_int64)]
library.headroom_dry_run_number.argtypes = [ctypes.c_int]


def blocks_of(device):
    """What was allocated (above 0) and freed (below) so far, in order: an array of Block, and how
    many there are."""
    count = ctypes.c_int64()
    return library.headroom_dry_run_blocks(device, ctypes.byref(count)), count.value


def used_devices():
    import torch
    return [device for device in range(torch.cuda.device_count()) if blocks_of(device)[1] > 0]


class Marks:
    """Addresses whose kind is known, at some moments."""

    def __init__(self):
        self.moments = collections.defaultdict(list)  # by device: (events so far, sorted addresses)

    def take(self, tensors_by_kind):
        found = collections.defaultdict(dict)
        for kind, tensors in tensors_by_kind.items():
            for tensor in tensors:
                tensor = getattr(tensor, "_local_tensor", tensor)  # of a DTensor
                if getattr(tensor, "is_cuda", False) and tensor.numel() > 0:
                    found[tensor.device.index][tensor.data_ptr()] = kind
        for device, kinds in found.items():
            self.moments[device].append((blocks_of(device)[1], sorted(kinds.items())))

    def kind_of(self, device, address, size, begin, end):
        """Of a block that was there from the event `begin` to `end`; None: it is not known."""
        for moment, kinds in self.moments[device]:
            at = bisect.bisect_left(kinds, (address, ""))
            if begin < moment <= end and at < len(kinds) and kinds[at][0] < address + size:
                return kinds[at][1]
        return None


marks = Marks()
steps = collections.Counter()
step_ends = collections.defaultdict(list)  # by device: events before the end of each step


@harmless
def before_step(optimizer, arguments, options):
    if steps[id(optimizer)] < MOST_STEPS:
        parameters = [each for group in optimizer.param_groups for each in group["params"]]
        marks.take({"parameters": parameters, "gradients": [each.grad for each in parameters]})


@harmless
def after_step(optimizer, arguments, options):
    steps[id(optimizer)] += 1
    if steps[id(optimizer)] <= MOST_STEPS:
        states = [state for state in optimizer.state.values() if isinstance(state, dict)]
        marks.take({"optimizer state": [each for state in states for each in state.values()]})
    if next(iter(steps)) == id(optimizer):  # of several, the first to step
        for device in used_devices():
            step_ends[device].append(blocks_of(device)[1])


@harmless
def begin():
    import torch
    from torch.optim import optimizer
    torch.cuda.memory._record_memory_history(context="alloc", stacks="python")
    optimizer.register_optimizer_step_pre_hook(before_step)
    optimizer.register_optimizer_step_post_hook(after_step)
    atexit.register(end)


def line_of(frames, torch_folder):
    """The innermost line that is not PyTorch's own, or else is; "": no Python was at work."""
    own = [frame for frame in frames if not frame["filename"].startswith((torch_folder, "<"))]
    chosen = (own or frames or [None])[0]
    if chosen is None:
        return ""
    file = chosen["filename"]
    here = os.getcwd() + os.sep
    file = file[len(here):] if file.startswith(here) else file.rpartition("/site-packages/")[2]
    return f"{file}:{chosen['line']} {chosen['name']}"


def kind_of(frames, torch_folder):
    """Of a block that is nothing else, by who asked for it."""
    # Python that autograd's own threads call: hooks, checkpoints that run again.
    if not frames or frames[-1]["filename"].startswith(torch_folder):
        return "backward"
    optimizers = os.path.join(torch_folder, "optim", "")
    by_optimizer = any(frame["filename"].startswith(optimizers) for frame in frames)
    return "optimizer" if by_optimizer else "forward"


def totals_of(blocks, count):
    """The bytes that were allocated behind each event."""
    return list(itertools.accumulate(blocks[event].bytes for event in range(count)))


def held_at_peak(blocks, count):
    """The blocks at the first moment of most bytes: (event, address, bytes, event of its end)."""
    totals = totals_of(blocks, count)
    at = totals.index(max(totals))
    begins, ends = {}, {}
    for event in range(count):
        address, size = blocks[event].address, blocks[event].bytes
        if event > at:
            if size < 0:
                ends.setdefault(address, event)
        elif size > 0:
            begins[address] = event
        else:
            begins.pop(address, None)
    return [(event, address, blocks[event].bytes, ends.get(address, count))
            for address, event in begins.items()]


def frames_of_allocations(device, trace):
    """The frames of each allocation of the history, in its order, by the event by which the dry run
    was told of it. None: they are not known, as the program records for itself."""
    blocks, count = blocks_of(device)
    events = [event for event in range(count) if blocks[event].bytes > 0]
    allocations = [entry for entry in trace if entry["action"] == "alloc"]
    if [blocks[event].address for event in events] != [entry["addr"] for entry in allocations]:
        return None
    return {event: entry.get("frames", []) for event, entry in zip(events, allocations)}


def holders_of(device, frames_of, torch_folder):
    """`frames_of`: as frames_of_allocations() gives it."""
    blocks, count = blocks_of(device)
    sums, numbers = collections.Counter(), collections.Counter()
    for event, address, size, end in held_at_peak(blocks, count):
        frames = frames_of[event]
        line = line_of(frames, torch_folder)
        kind = marks.kind_of(device, address, size, event, end)
        kind = kind or kind_of(frames, torch_folder)
        sums[kind, line] += size
        numbers[kind, line] += 1
    return [{"kind": kind, "line": line, "bytes": size, "blocks": numbers[kind, line]}
            for (kind, line), size in sums.most_common()]


@harmless
def end():
    import torch
    torch_folder = os.path.join(os.path.dirname(torch.__file__), "")
    traces = torch.cuda.memory._snapshot()["device_traces"]
    for device in used_devices():
        trace = traces[device]
        frames_of = frames_of_allocations(device, trace)
        if frames_of is None:
            continue
        holders = holders_of(device, frames_of, torch_folder)
        reserved = reserved_peak_of(device, trace, frames_of, torch_folder)
        number = library.headroom_dry_run_number(device)
        course = step_memory_of(device, frames_of, torch_folder)
        for name, what in (("holders", holders), ("reserved", reserved), ("course", course)):
            path = f"{FOLDER}/{os.getpid()}.{number}.{name}"
            with open(path, "w", encoding="utf-8") as file:
                json.dump(what, file)


once_initialized(begin)
