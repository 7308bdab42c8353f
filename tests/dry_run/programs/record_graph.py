# SPDX-License-Identifier: Apache-2.0
"""A product of 1,024 x 1,024 numbers, recorded as a graph and launched three times; with "ask", the
program asks for a number of it while it records."""
import sys

import torch

numbers = torch.randn(1024, 1024, device="cuda")
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    product = numbers @ numbers
    if "ask" in sys.argv:
        product.sum().item()
for _ in range(3):
    graph.replay()
