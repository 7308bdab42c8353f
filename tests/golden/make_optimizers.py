# SPDX-License-Identifier: Apache-2.0
"""Writes optimizers.json: what optimizers of PyTorch 2.11, transformers and packages make of a few
numbers.

    pip install --no-deps --target /tmp/optimizers lion-pytorch==0.2.5
    PYTHONPATH=/tmp/optimizers:.deps/programs .deps/python/bin/python3 \\
        tests/golden/make_optimizers.py > tests/golden/optimizers.json

Each case starts from the same parameters and takes the same gradients. The implementation is
PyTorch's plain one (foreach=False): the three of headroom are held to it. Adafactor is that of
transformers, as its Trainer sets it; Lion that of lion-pytorch.
"""

import json
import sys

import torch
import transformers
from lion_pytorch import Lion
from transformers.optimization import Adafactor

STEPS = 5
SHAPES = [(3, 2), (4,), (), (2, 3, 2)]
CASES = [
    {"name": "adam", "lr": 0.01},
    {"name": "adam", "lr": 0.01, "weight_decay": 0.1, "beta1": 0.8, "beta2": 0.95, "eps": 1e-6},
    {"name": "adamw", "lr": 0.01, "weight_decay": 0.1},
    {"name": "adafactor", "lr": 0.01},
    {"name": "adafactor", "lr": 0.01, "weight_decay": 0.1},
    {"name": "lion", "lr": 0.01},
    {"name": "lion", "lr": 0.01, "weight_decay": 0.1, "beta1": 0.8, "momentum_decay": 0.95},
    {"name": "sgd", "lr": 0.1},
    {"name": "sgd", "lr": 0.1, "momentum": 0.9},
    {"name": "sgd", "lr": 0.1, "momentum": 0.9, "weight_decay": 0.05},
]


def numbers(count, seed):
    """The same in any language: a few decimals, signs and sizes mixed."""
    return [((i * 37 + seed * 101) % 199 - 99) / 64 for i in range(count)]


def tensors(dtype, seed):
    made = []
    for k, shape in enumerate(SHAPES):
        count = torch.Size(shape).numel()
        made.append(torch.tensor(numbers(count, seed + 10 * k), dtype=dtype).reshape(shape))
    return made


def optimizer(case, parameters):
    betas = ("beta1", "beta2", "momentum_decay")
    options = {k: v for k, v in case.items() if k not in ("name", *betas)}
    if case["name"] == "sgd":
        return torch.optim.SGD(parameters, foreach=False, **options)
    if case["name"] == "adafactor":
        return Adafactor(parameters, scale_parameter=False, relative_step=False, **options)
    if case["name"] == "lion":
        return Lion(parameters, betas=(case.get("beta1", 0.9), case.get("momentum_decay", 0.99)),
                    **options)
    betas = (case.get("beta1", 0.9), case.get("beta2", 0.999))
    kind = torch.optim.Adam if case["name"] == "adam" else torch.optim.AdamW
    options.setdefault("weight_decay", 0.0)
    return kind(parameters, betas=betas, foreach=False, **options)


def run(case, dtype):
    parameters = [p.requires_grad_() for p in tensors(dtype, 1)]
    steps = optimizer(case, parameters)
    for step in range(STEPS):
        for parameter, gradient in zip(parameters, tensors(dtype, 100 + step)):
            parameter.grad = gradient
        steps.step()
    return [p.detach().double().flatten().tolist() for p in parameters]


def main():
    assert torch.__version__.startswith("2.11."), torch.__version__
    assert transformers.__version__.startswith("5."), transformers.__version__
    torch.set_num_threads(1)
    cases = []
    for case in CASES:
        cases.append(
            {
                "options": case,
                "float32": run(case, torch.float32),
                "float64": run(case, torch.float64),
            }
        )
    gradients = [
        [g.flatten().tolist() for g in tensors(torch.float64, 100 + s)] for s in range(STEPS)
    ]
    start = [p.flatten().tolist() for p in tensors(torch.float64, 1)]
    json.dump(
        {"shapes": SHAPES, "start": start, "gradients": gradients, "cases": cases},
        sys.stdout,
        indent=1,
    )
    print()


if __name__ == "__main__":
    main()
