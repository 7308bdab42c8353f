# SPDX-License-Identifier: Apache-2.0
"""Plans many rows of a source in one program: each in a process of its own, behind the imports that
all share. A row's process uses the GPU first, so its peaks are the row's alone."""
import itertools
import json
import os
import sys
import traceback

import torch

OUT_OF_MEMORY = 3  # exit status of a row that the GPU is too small for


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
