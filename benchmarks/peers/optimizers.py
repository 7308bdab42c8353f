# SPDX-License-Identifier: Apache-2.0
"""The optimizers of PyTorch, and of packages that are installed, by the fields of a case."""
import importlib
from unittest.mock import patch

import torch
from not_covered import NotCovered
from torch.distributed.optim import ZeroRedundancyOptimizer

PYTORCH = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "sgd": torch.optim.SGD}


def of_package(module: str, name: str):
    try:
        return getattr(importlib.import_module(module), name)
    except ImportError as error:
        raise NotCovered(f"{name} without {module.partition('.')[0]}") from error


def of_pytorch(options: dict, parameters, shared: bool, arguments: dict) -> torch.optim.Optimizer:
    arguments["foreach"] = options["implementation"] == "multi_tensor"
    if options["implementation"] == "fused":
        arguments["fused"] = True
    if options["name"] == "sgd":
        arguments["momentum"] = options["momentum"]
    else:
        arguments |= {"betas": (options["beta1"], options["beta2"]), "eps": options["eps"]}
    made = PYTORCH[options["name"]]
    if shared:
        return ZeroRedundancyOptimizer(parameters, made, **arguments)
    return made(parameters, **arguments)


def make_optimizer(options: dict, parameters, shared=False) -> torch.optim.Optimizer:
    """`shared`: each rank updates some of the parameters, and has the state of those alone."""
    arguments = {"lr": options["lr"], "weight_decay": options["weight_decay"]}
    name = options["name"]
    if name in PYTORCH:
        return of_pytorch(options, parameters, shared, arguments)
    if shared or options["implementation"] != "per_tensor":
        raise NotCovered(f"{name} among ranks, or other than per_tensor")
    if name == "adafactor":
        return of_package("transformers.optimization", "Adafactor")(
            parameters, scale_parameter=False, relative_step=False, **arguments)
    if name == "lion":
        betas = (options["beta1"], options["momentum_decay"])
        return of_package("lion_pytorch", "Lion")(parameters, betas=betas, **arguments)
    if name == "adalomo":
        raise NotCovered("adalomo other than in backward")
    arguments |= {"betas": (options["beta1"], options["beta2"]), "eps": options["eps"]}
    if name == "apollo":
        return of_package("apollo_torch", "APOLLOAdamW")(
            low_rank_groups(options, list(parameters)), **arguments)
    kind = {"adam_8bit": "AdamW8bit", "adam_4bit": "AdamW4bit"}[name]
    return of_package("torchao.optim", kind)(parameters, **arguments)


def low_rank_groups(options: dict, parameters: list) -> list:
    """The matrices that ours projects, and the rest."""
    rank = options["projection_rank"]
    projected = [p for p in parameters if p.dim() == 2 and min(p.shape) > rank]
    rest = [p for p in parameters if p.dim() != 2 or min(p.shape) <= rank]
    groups = [{"params": rest}, {
        "params": projected, "rank": rank, "update_proj_gap": options["projection_interval"],
        "scale": options["scale"], "scale_type": options["scale_by"], "proj": "random",
        "proj_type": "std"}]
    return [group for group in groups if group["params"]]


def make_adalomo(options: dict, model: torch.nn.Module) -> torch.optim.Optimizer:
    """It hooks the model itself, and asks for a GPU for its state alone."""
    made = of_package("lomo_optim", "AdaLomo")
    with patch.object(torch.Tensor, "cuda", lambda tensor: tensor):
        return made(model, lr=options["lr"], loss_scale=None, weight_decay=options["weight_decay"])
