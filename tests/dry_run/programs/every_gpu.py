# SPDX-License-Identifier: Apache-2.0
"""Sorts, and what else asks for which GPU its kernels were compiled, on each GPU that is named."""
import os
import sys

import torch


def use_device():
    numbers = torch.rand(5000, device="cuda")
    numbers.sort()
    numbers.topk(100)
    numbers.unique()
    tokens = torch.randint(30000, (4096,), device="cuda")
    weights = torch.rand(30000, 64, device="cuda", requires_grad=True)
    torch.nn.functional.embedding(tokens, weights).sum().backward()


works = 0
for name in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        os.environ["HEADROOM_DRY_RUN_GPU"] = name
        use_device()
        os._exit(0)
    if os.waitpid(child, 0)[1] == 0:
        works += 1
    else:
        print("fails on", name, file=sys.stderr)
print("works", works)
