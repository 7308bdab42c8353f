# SPDX-License-Identifier: Apache-2.0
"""Kernels of liger-kernel and what they stand in for, each alone (source.yaml). A builder gives the
forward function, how its backward is started (a tensor, or what is made for it each time), and the
inputs whose gradients a benchmark of its time drops."""
import json

import torch
import torch.nn.functional as F
from torch import nn
from transformers.models.llama import modeling_llama as llama
from transformers.models.llama.configuration_llama import LlamaConfig

import losses
import rows

TIMES = 4  # from the second on each has the same peak: the gradients are there
RANDOM, ONES, SCALAR, SUM = "random", "ones", "scalar", "sum"


def liger():
    """Its import uses the GPU, so it is for a row's own process alone."""
    import liger_kernel.transformers
    return liger_kernel.transformers


def of_loss(row, config, dtype):
    logits, loss = losses.of_words(row, config)
    # The benchmarks of 2026 start the backward of a loss, too, with a random tensor.
    return loss, RANDOM if "vocab_size" in config else SCALAR, ()


def of_head(row, config, dtype):
    return losses.of_head(row, config, dtype), SCALAR, ()


def of_mlp(row, config, dtype):
    settings = LlamaConfig(**{name: config[name] for name in
                              ("hidden_size", "intermediate_size", "hidden_act")})
    x = torch.randn(config["bsz"], int(row["x"]), config["hidden_size"], device="cuda",
                    dtype=dtype, requires_grad=True)
    kind = "GEGLU" if "geglu" in row["kernel"] else "SwiGLU"
    if row["provider"] == "liger_tiled":
        from liger_kernel.transformers import tiled_mlp
        tiled = getattr(tiled_mlp, f"LigerTiled{kind}MLP")
        layer = tiled(config=settings, num_shards=config["num_shards"])
    elif row["provider"] == "liger":
        layer = getattr(liger(), f"Liger{kind}MLP")(config=settings)
    else:
        layer = llama.LlamaMLP(config=settings)
    layer.cuda().to(dtype)
    return lambda: layer(x), RANDOM, (x,)


def of_norm(row, config, dtype):
    """Both layers are on the GPU, and the gradient is made before."""
    name, width, eps = row["kernel"], int(row["x"]), config.get("eps")
    if name == "layer_norm":
        shape = config["M"], width
        layers = liger().LigerLayerNorm(hidden_size=width), nn.LayerNorm(width, eps=eps)
    elif name == "group_norm":
        from liger_kernel.transformers.group_norm import LigerGroupNorm
        shape, groups = (config["M"], width, config["H"]), width // config["channels_per_group"]
        layers = (LigerGroupNorm(num_channels=width, num_groups=groups, eps=eps),
                  nn.GroupNorm(groups, width, eps=eps))
    else:
        from liger_kernel.transformers.sparsemax import LigerSparsemax
        shape, layers = (config["B"] * config["T"], width), (LigerSparsemax(dim=-1), None)
    layers = [layer and layer.cuda() for layer in layers]
    x = torch.randn(shape, dtype=dtype, device="cuda")
    gradient = torch.randn_like(x)
    x.requires_grad_(True)
    layer = layers[row["provider"] != "liger"] or losses.sparsemax
    return lambda: layer(x) if layers else None, gradient, (x,)


def of_add_norm(row, config, dtype):
    width, eps = int(row["x"]), config["eps"]
    from liger_kernel.transformers.fused_add_rms_norm import LigerFusedAddRMSNorm
    layers = {"liger_fused_add_rms_norm": LigerFusedAddRMSNorm(hidden_size=width, eps=eps),
              "huggingface": losses.AddNorm(width, eps),
              "liger_rms_norm": losses.AddNorm(width, eps, liger().LigerRMSNorm)}
    layers = {key: one.cuda() for key, one in layers.items()}
    x, residual, *gradients = (torch.randn(config["M"], width, dtype=dtype, device="cuda")
                               for _ in range(4))
    x.requires_grad_(True)
    residual.requires_grad_(True)
    layer = layers[row["provider"]]
    return ((lambda: torch.autograd.backward(layer(x, residual), gradients)), None, (x, residual))


def of_element(row, config, dtype):
    """The benchmark hands the width over as the shape: x is one row of it."""
    if row["kernel"] == "softmax":
        from liger_kernel.transformers.softmax import LigerSoftmax
        layer = LigerSoftmax() if row["provider"] == "liger" else nn.Softmax(dim=-1)
    else:
        from liger_kernel.transformers.relu_squared import LigerReLUSquared
        layer = LigerReLUSquared() if row["provider"] == "liger" \
            else lambda x: torch.square(F.relu(x))
    x = torch.randn(int(row["x"]), device="cuda", dtype=dtype, requires_grad=True)
    return lambda: layer(x), ONES, (x,)


def of_megatron(row, config, dtype):
    width = int(row["x"])
    layer = liger().LigerRMSNorm(width, 1e-6, in_place=False) if row["provider"] == "liger" \
        else nn.RMSNorm(width, eps=1e-6)
    layer.cuda().to(torch.bfloat16)
    x = torch.randn(config["S"], config["B"], width, device="cuda", dtype=torch.bfloat16,
                    requires_grad=True)
    return lambda: layer(x), SUM, ()


BUILDERS = {
    "jsd": of_loss, "tvd": of_loss, "fused_linear_cross_entropy": of_head,
    "fused_linear_jsd": of_head, "tiled_geglu": of_mlp, "tiled_swiglu": of_mlp,
    "layer_norm": of_norm, "group_norm": of_norm, "sparsemax": of_norm, "softmax": of_element,
    "relu_squared": of_element, "fused_add_rms_norm": of_add_norm, "megatron_rms_norm": of_megatron,
}


def make(row):
    """What is done in each mode, and the inputs. Backward alone begins with its own forward."""
    config = json.loads(row["config"])
    dtype = getattr(torch, config.get("dtype", "torch.float32").removeprefix("torch."))
    builder = BUILDERS[row["kernel"]]
    forward, start, inputs = builder(row, config, dtype)

    def full():
        y = forward()
        if start is SCALAR:
            y.backward(retain_graph=builder is of_loss)
        elif start is SUM:
            y.sum().backward()
        else:
            gradient = {RANDOM: torch.randn_like, ONES: torch.ones_like}[start](y) \
                if isinstance(start, str) else start
            y.backward(gradient, retain_graph=True)

    def backward():
        y = forward()
        gradient = None if start is SCALAR else torch.randn_like(y)
        return lambda: y.backward(gradient, retain_graph=True)
    return {"forward": lambda: forward, "backward": backward,
            "full": lambda: forward if start is None else full}, inputs


def train(_, row):
    # Memory goes by the mode for MLPs alone: the script of group_norm does the same for all three.
    mode = row["mode"] if BUILDERS[row["kernel"]] is of_mlp else "full"
    if mode != "full":
        make(row)[0]["full"]()()  # as its times were taken: cuBLAS keeps its workspaces
    steps, inputs = make(row)
    rows.timed(steps[row["mode"]](), inputs)
    step = steps[mode]()
    for _ in range(TIMES):
        torch.cuda.reset_peak_memory_stats()
        step()


rows.each(lambda row: None, train, group="gpu")
