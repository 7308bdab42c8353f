# SPDX-License-Identifier: Apache-2.0
"""Multiplies two matrices again and again, or runs a convolution or one of its gradients, as the
source does (source.yaml): in a graph, so that no kernel waits for Python. A step is marked by an
update that has nothing to update."""
import torch

import rows

STEPS, COUNT = 5, 50

torch.set_num_threads(1)
TYPES = {"single": torch.float32, "half": torch.float16}


def matrix(many, few, is_turned, dtype):
    """Of `many` rows as the source has it, whose columns lie in a piece."""
    if is_turned:
        return torch.empty(many, few, dtype=dtype, device="cuda")
    return torch.empty(few, many, dtype=dtype, device="cuda").t()


def product(row, dtype):
    m, n, k = (int(row[name]) for name in "mnk")
    one = matrix(m, k, row["turned"][0] == "T", dtype)
    other = matrix(k, n, row["turned"][1] == "T", dtype)
    made = matrix(m, n, False, dtype)
    return lambda: torch.mm(one, other, out=made)


def convolution(row, dtype):
    sizes, stride, padding = (
        [int(size) for size in row[name].split("x")] for name in ("sizes", "stride", "padding"))
    x = torch.empty(sizes[:4], dtype=dtype, device="cuda")
    filters = torch.empty(sizes[4], sizes[1], *sizes[5:], dtype=dtype, device="cuda")
    y = torch.conv2d(x, filters, None, stride, padding)
    if row["what"] == "forward":
        return lambda: torch.conv2d(x, filters, None, stride, padding)
    wanted = [row["what"] == "input", row["what"] == "filter", False]
    return lambda: torch.ops.aten.convolution_backward(
        y, x, filters, None, stride, padding, [1, 1], False, [0, 0], 1, wanted)


@torch.no_grad()
def run(made, row):
    work = (product if row["what"] == "product" else convolution)(row, TYPES[row["precision"]])
    mark = torch.optim.SGD([torch.nn.Parameter(torch.empty(1))], lr=1.0)
    work()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(COUNT):
            work()
    for _ in range(STEPS):
        graph.replay()
        mark.step()


rows.each(lambda row: None, run, group="what")
