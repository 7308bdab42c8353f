# SPDX-License-Identifier: Apache-2.0
"""Plans many rows of a source in one program: each in a process of its own, behind the imports that
all share. A row's process uses the GPU first, so its peaks are the row's alone."""
import itertools
import json
import os
import sys
import traceback

import torch
from torch.overrides import TorchFunctionMode

OUT_OF_MEMORY = 3  # exit status of a row that the GPU is too small for


class Undrawn(TorchFunctionMode):
    """Makes a model without drawing its weights: nothing computes with them, and memory that is
    never written takes no place on the host."""
    DRAWS = {"normal_", "uniform_", "trunc_normal_", "kaiming_normal_", "kaiming_uniform_",
             "xavier_normal_", "xavier_uniform_", "erfinv_", "mul_", "add_", "clamp_", "div_"}
    SMALL = 4096  # numbers; what is smaller may be no weight

    def __torch_function__(self, function, types, arguments=(), names=None):
        names = names or {}
        drawn = arguments[0] if arguments else names.get("tensor")
        if getattr(function, "__name__", "") in self.DRAWS and drawn.numel() > self.SMALL:
            return drawn
        return function(*arguments, **names)


def timed(step, inputs=(), times=6) -> None:
    """Calls it as Triton's do_bench does: the gradients of `inputs` are gone before each time. A plan
    counts a program's steps by its updates, so each time ends with one, of nothing."""
    mark = torch.optim.SGD([torch.nn.Parameter(torch.empty(1))], lr=1.0)
    for _ in range(times):
        for tensor in inputs:
            tensor.grad = None
        step()
        mark.step()


def in_child(work, *arguments) -> tuple:
    """The process that did it, and its exit status."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work(*arguments)
            status = 0
        except torch.cuda.OutOfMemoryError:
            status = OUT_OF_MEMORY
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    return child, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def each(make, train, group="model") -> None:
    """Calls train(make(row), row) for each row of the file that the program was called with, one
    JSON object a line. What `make` gives, on the CPU, serves all rows in turn that have the same
    `group`."""
    with open(sys.argv[1]) as lines:
        rows = [json.loads(line) for line in lines]

    def of_group(group_rows) -> None:
        made = make(group_rows[0])
        for row in group_rows:
            process, status = in_child(train, made, row)
            print(f"atlas row={row['key']} process={process} status={status}", flush=True)

    for _, group_rows in itertools.groupby(rows, key=lambda row: row[group]):
        in_child(of_group, list(group_rows))
