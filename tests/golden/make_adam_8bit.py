# SPDX-License-Identifier: Apache-2.0
"""Writes adam_8bit.json: what bitsandbytes 0.50's own reference for its 8-bit Adam makes of a few
numbers, on the CPU.

    pip install --no-deps --target /tmp/bitsandbytes bitsandbytes==0.50.2
    PYTHONPATH=/tmp/bitsandbytes:.deps/programs .deps/python/bin/python3 \\
        tests/golden/make_adam_8bit.py > tests/golden/adam_8bit.json

One parameter of 8-bit moments, whose last block is short. Kept is each EVERY-th number of it, after
each step, and the maps by which a byte stands for a number.
"""
import json
import os
import sys

os.environ["TORCHDYNAMO_DISABLE"] = "1"  # what is compiled rounds otherwise

import bitsandbytes
import torch
from bitsandbytes.backends.triton.kernels_optim import optimizer_update_8bit_blockwise_pytorch
from bitsandbytes.functional import create_dynamic_map

SHAPE = (8, 600)
STEPS = 5
EVERY = 37
BLOCK = 256
CASES = [{"lr": 0.01}, {"lr": 0.01, "weight_decay": 0.1, "beta1": 0.8, "beta2": 0.95, "eps": 1e-6}]


def numbers(seed):
    """The same in any language: a few decimals, signs and sizes mixed."""
    count = torch.Size(SHAPE).numel()
    values = [((i * 37 + seed * 101) % 199 - 99) / 64 for i in range(count)]
    return torch.tensor(values, dtype=torch.float32).reshape(SHAPE)


def run(case):
    parameter = numbers(1)
    maps = [create_dynamic_map(signed) for signed in (True, False)]
    codes = [torch.zeros(SHAPE, dtype=torch.uint8) for _ in maps]
    scales = [torch.zeros(-(-parameter.numel() // BLOCK)) for _ in maps]
    seen = []
    for step in range(1, STEPS + 1):
        optimizer_update_8bit_blockwise_pytorch(
            parameter, numbers(99 + step), codes[0], codes[1], case.get("beta1", 0.9),
            case.get("beta2", 0.999), 0.0, 0.0, case.get("eps", 1e-8), step, case["lr"], maps[0],
            maps[1], scales[0], scales[1], case.get("weight_decay", 0.0), 1.0, False,
            optimizer_name="adam")
        seen.append(parameter.flatten()[::EVERY].tolist())
    return {"options": case, "parameters": seen,
            "scales": [each.tolist() for each in scales]}


def main():
    assert bitsandbytes.__version__.startswith("0.50."), bitsandbytes.__version__
    torch.set_num_threads(1)
    maps = {name: create_dynamic_map(signed).tolist()
            for name, signed in (("signed", True), ("unsigned", False))}
    json.dump({"shape": SHAPE, "every": EVERY, "maps": maps, "cases": [run(c) for c in CASES]},
              sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
