# SPDX-License-Identifier: Apache-2.0
"""Writes adam_4bit.json: what AdamW4bit of torchao 0.17 makes of a few numbers, on the CPU.

    pip install --no-deps --target /tmp/torchao torchao==0.17.0
    PYTHONPATH=/tmp/torchao:.deps/programs .deps/python/bin/python3 \\
        tests/golden/make_adam_4bit.py > tests/golden/adam_4bit.json

The first parameter has moments of 4 bits; the second as many numbers, but no multiple of a block:
its moments are whole. Kept is each EVERY-th number of both after each step, and at the end the
codes and scales of the first, which are all that is left of its moments.
"""
import json
import os
import sys
from importlib.metadata import version

os.environ["TORCHDYNAMO_DISABLE"] = "1"  # what is compiled rounds otherwise

import torch
from torchao.optim import AdamW4bit
from torchao.optim.subclass_4bit import OptimState4bit, get_qmap_signed, get_qmap_unsigned

SHAPES = [(8, 640), (7, 600)]
STEPS = 5
EVERY = 37
CASES = [{"lr": 0.01}, {"lr": 0.01, "weight_decay": 0.1, "beta1": 0.8, "beta2": 0.95, "eps": 1e-6}]


def numbers(shape, seed):
    """The same in any language: a few decimals, signs and sizes mixed."""
    count = torch.Size(shape).numel()
    values = [((i * 37 + seed * 101) % 199 - 99) / 64 for i in range(count)]
    return torch.tensor(values, dtype=torch.float32).reshape(shape)


def run(case):
    parameters = [numbers(shape, 1).requires_grad_() for shape in SHAPES]
    optimizer = AdamW4bit(
        parameters, lr=case["lr"], betas=(case.get("beta1", 0.9), case.get("beta2", 0.999)),
        eps=case.get("eps", 1e-8), weight_decay=case.get("weight_decay", 0.0))
    seen = []
    for step in range(STEPS):
        for parameter, shape in zip(parameters, SHAPES):
            parameter.grad = numbers(shape, 100 + step)
        optimizer.step()
        seen.append([p.detach().flatten()[::EVERY].tolist() for p in parameters])
    moments = [optimizer.state[parameters[0]][name] for name in ("exp_avg", "exp_avg_sq")]
    assert all(isinstance(moment, OptimState4bit) for moment in moments)
    return {"options": case, "parameters": seen,
            "codes": [moment.codes.tolist() for moment in moments],
            "scales": [moment.scale.tolist() for moment in moments]}


def main():
    assert version("torchao").startswith("0.17."), version("torchao")
    torch.set_num_threads(1)
    maps = {"signed": get_qmap_signed(), "unsigned": get_qmap_unsigned()}
    json.dump({"shapes": SHAPES, "every": EVERY, "maps": maps, "cases": [run(c) for c in CASES]},
              sys.stdout)
    print()


if __name__ == "__main__":
    main()
