# SPDX-License-Identifier: Apache-2.0
"""Megatron's cross entropy and SwiGLU, and Liger's in their place. A builder gives the forward
function, how its backward goes, and what else lives."""
import importlib

import torch


def liger(name):
    """Its import uses the GPU, so it is for a row's own process alone."""
    return getattr(importlib.import_module("liger_kernel.megatron"), name)


def total(y):
    y.sum().backward()


def of_loss(row, config, dtype):
    torch.distributed.init_process_group(
        "nccl", store=torch.distributed.HashStore(), rank=0, world_size=1)
    group = torch.distributed.group.WORLD
    words = int(row["x"])
    logits = torch.randn(config["S"], config["B"], words, device="cuda", dtype=torch.bfloat16,
                         requires_grad=True)
    target = torch.randint(0, words, (config["S"], config["B"]), device="cuda", dtype=torch.long)
    if row["provider"] == "liger":
        loss = liger("LigerMegatronCrossEntropy")()
        return lambda: renewed(logits, lambda: loss(logits, target, tp_group=group)), total, loss
    if row["provider"] == "megatron-fused":
        from megatron.core.fusions.fused_cross_entropy import fused_vocab_parallel_cross_entropy
        return (lambda: renewed(logits, lambda: fused_vocab_parallel_cross_entropy(
            logits, target, group)), total, target)
    from megatron.core import parallel_state
    from megatron.core.tensor_parallel.cross_entropy import vocab_parallel_cross_entropy
    parallel_state._TENSOR_MODEL_PARALLEL_GROUP = group  # 0.16.1 does not take it as an argument
    return (lambda: renewed(logits, lambda: vocab_parallel_cross_entropy(logits, target, 0.0)),
            total, target)


def renewed(x, forward):
    """Its gradient goes before each forward."""
    x.grad = None
    return forward()


def of_mlp(row, config, dtype):
    x = torch.randn(config["S"], config["B"], 2 * int(row["x"]), device="cuda",
                    dtype=torch.bfloat16, requires_grad=True)
    if row["provider"] == "torch":
        def apply(x):
            gate, other = torch.chunk(x, 2, -1)
            return torch.nn.functional.silu(gate) * other
    elif row["provider"] == "megatron":
        from megatron.core.fusions.fused_bias_swiglu import bias_swiglu_impl
        apply = lambda x: bias_swiglu_impl(x, None, False, False)  # noqa: E731
    else:
        layer = liger("LigerMegatronSwiGLU")(
            in_place=row["provider"] == "liger_in_place")
        apply = lambda x: layer(x, None, False, False)  # noqa: E731
    return lambda: renewed(x, lambda: apply(x)), total, x
