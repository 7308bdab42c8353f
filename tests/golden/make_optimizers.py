# SPDX-License-Identifier: Apache-2.0
"""Writes optimizers.json: what optimizers of PyTorch 2.11, transformers and packages make of a few
numbers.

    pip install --no-deps --target /tmp/optimizers lion-pytorch==0.2.5 lomo-optim==0.1.1 \\
        apollo-torch==1.0.3 bitsandbytes==0.50.2
    PYTHONPATH=/tmp/optimizers:.deps/programs .deps/python/bin/python3 \\
        tests/golden/make_optimizers.py > tests/golden/optimizers.json

Each case starts from the same parameters and takes the same gradients. The implementation is
PyTorch's plain one (foreach=False): the three of headroom are held to it. Adafactor is that of
transformers, as its Trainer sets it; Lion, AdaLomo and APOLLO are those of their packages.
AdaLomo's has vectors and matrices alone, on a GPU and in float32: it runs on the CPU, and in
float64, by what is patched here. APOLLO's asks for bitsandbytes and makes nothing with it.
"""

import json
import sys
from unittest.mock import patch

import torch
import transformers
from apollo_torch import APOLLOAdamW
from lion_pytorch import Lion
from lomo_optim import AdaLomo
from transformers.optimization import Adafactor

STEPS = 5
SHAPES = [(3, 2), (4,), (), (2, 3, 2), (2, 5)]
CASES = [
    {"name": "adam", "lr": 0.01},
    {"name": "adam", "lr": 0.01, "weight_decay": 0.1, "beta1": 0.8, "beta2": 0.95, "eps": 1e-6},
    {"name": "adamw", "lr": 0.01, "weight_decay": 0.1},
    {"name": "adafactor", "lr": 0.01},
    {"name": "adafactor", "lr": 0.01, "weight_decay": 0.1},
    {"name": "adalomo", "lr": 0.01},
    {"name": "adalomo", "lr": 0.01, "weight_decay": 0.1},
    {"name": "apollo", "lr": 0.01, "projection_rank": 1, "projection_interval": 2},
    {"name": "apollo", "lr": 0.01, "projection_rank": 1, "scale": 4.0, "scale_by": "tensor",
     "weight_decay": 0.1, "beta1": 0.8, "beta2": 0.95, "eps": 1e-6},
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


def low_rank_groups(case, parameters):
    """A group for each parameter, as seeds count parameters in the order of groups."""
    projected = {
        "rank": case["projection_rank"], "update_proj_gap": case.get("projection_interval", 200),
        "scale": case.get("scale", 1.0), "scale_type": case.get("scale_by", "channel"),
        "proj": "random", "proj_type": "std"}
    return [{"params": [p]} | (projected if p.dim() == 2 else {}) for p in parameters]


def optimizer(case, parameters):
    options = {"lr": case["lr"], "weight_decay": case.get("weight_decay", 0.0)}
    if case["name"] == "sgd":
        momentum = case.get("momentum", 0.0)
        return torch.optim.SGD(parameters, foreach=False, momentum=momentum, **options)
    if case["name"] == "adafactor":
        return Adafactor(parameters, scale_parameter=False, relative_step=False, **options)
    if case["name"] == "lion":
        return Lion(parameters, betas=(case.get("beta1", 0.9), case.get("momentum_decay", 0.99)),
                    **options)
    options |= {"betas": (case.get("beta1", 0.9), case.get("beta2", 0.999)),
                "eps": case.get("eps", 1e-8)}
    if case["name"] == "apollo":
        return APOLLOAdamW(low_rank_groups(case, parameters), **options)
    kind = torch.optim.Adam if case["name"] == "adam" else torch.optim.AdamW
    return kind(parameters, foreach=False, **options)


def run_in_backward(case, parameters, gradients):
    """AdaLomo updates by hooks, from the gradients of a loss."""
    model = torch.nn.ParameterList(parameters)
    with patch.object(torch.Tensor, "cuda", lambda tensor: tensor):
        steps = AdaLomo(model, lr=case["lr"], loss_scale=None,
                        weight_decay=case.get("weight_decay", 0.0))
    for ready in gradients:
        loss = sum((p * g).sum() for p, g in zip(parameters, ready))
        steps.fused_backward(loss, case["lr"])


def run(case, dtype):
    parameters = [p.requires_grad_() for p in tensors(dtype, 1)]
    gradients = [tensors(dtype, 100 + step) for step in range(STEPS)]
    kept = range(len(SHAPES))
    if case["name"] == "adalomo":
        kept = [i for i in kept if len(SHAPES[i]) in (1, 2)]
        parameters = [torch.nn.Parameter(parameters[i].detach()) for i in kept]
        with patch.object(torch, "float32", dtype):
            run_in_backward(case, parameters, [[ready[i] for i in kept] for ready in gradients])
    else:
        steps = optimizer(case, parameters)
        for ready in gradients:
            for parameter, gradient in zip(parameters, ready):
                parameter.grad = gradient
            steps.step()
    found = [p.detach().double().flatten().tolist() for p in parameters]
    return [found[list(kept).index(i)] if i in kept else None for i in range(len(SHAPES))]


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
