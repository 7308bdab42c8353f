# SPDX-License-Identifier: Apache-2.0
"""Modules and losses of liger-kernel and what they stand in for, each alone (source.yaml). A
builder gives the forward function, how its backward goes, and all else that it made: a benchmark
keeps that as long as it measures."""
import functools
import importlib
import json

import torch

import heads
import modules
import parallel
import rows
import students

TIMES = 4  # from the second on each has the same peak: the gradients are there


def liger(module, name):
    """Its import uses the GPU, so it is for a row's own process alone."""
    return getattr(importlib.import_module(f"liger_kernel.{module}"), name)


def number(y):
    y.backward()


def like(y):
    y.backward(torch.randn_like(y), retain_graph=True)


def given(gradient):
    return lambda y: y.backward(gradient, retain_graph=True)


def of_loss(row, config, dtype):
    name = row["kernel"]
    builder = heads.of_kto if name == "kto_loss" else students.of_distillation \
        if name.startswith("distill") else students.of_grpo if "grpo" in name \
        else heads.of_preference
    forward, kept = builder(row, config, dtype)
    return forward, number, kept


def of_experts(row, config, dtype):
    """The weights are products, so that what they are made of lives as well, and has gradients."""
    tokens, experts = (int(row["x"]) if config["sweep_dim"] == name else config[name]
                       for name in "TE")
    width, inner, each = config["H"], config["intermediate_dim"], config["K"]
    torch.manual_seed(42)
    options = {"dtype": dtype, "device": "cuda", "requires_grad": True}
    x = torch.randn(tokens, width, **options)
    up = torch.randn(experts, 2 * inner, width, **options) * 0.02
    down = torch.randn(experts, width, inner, **options) * 0.02
    logits = torch.randn(tokens, experts, device="cuda")
    chosen = torch.topk(logits, each, dim=-1).indices.to(torch.int32)
    weights = torch.softmax(torch.gather(logits, 1, chosen.long()), dim=-1).to(dtype)
    weights.requires_grad_(True)
    apply = modules.experts_in_turn if row["provider"] == "huggingface" \
        else liger("ops.fused_moe", "LigerFusedMoEFunction").apply
    return lambda: apply(x, up, down, chosen, weights), like, (x,)


def of_neighborhood(row, config, dtype):
    options = {name: config[name] for name in
               ("hidden_size", "num_heads", "kernel_size", "dilation", "bias")}
    own = liger("transformers.fused_neighborhood_attention", "LigerFusedNeighborhoodAttention")(
        **options, dropout=0.0).to("cuda").to(dtype)
    plain = modules.NeighborhoodAttention(**options).to("cuda").to(dtype)
    x = torch.randn(config["batch_size"], int(row["x"]), config["hidden_size"], dtype=dtype,
                    device="cuda")
    gradient = torch.randn_like(x)
    x.requires_grad_(True)
    layer = own if row["provider"] == "liger" else plain
    return lambda: layer(x), given(gradient), (own, plain)


def of_many_tokens(row, config, dtype):
    is_sparse = row["kernel"].startswith("sparse")
    inputs, outputs, size = config["C_in"], config["C_out"], config["K"]
    own = liger("transformers.multi_token_attention", "LigerMultiTokenAttention")(
        in_channels=inputs, out_channels=outputs, kernel_size=size, stride=1, padding=size // 2,
        dilation=1, groups=config["groups"], bias=config["bias"], sparse=is_sparse)
    own = own.to("cuda").to(dtype)
    of_torch = modules.SparseMultiTokenAttention if is_sparse else modules.MultiTokenAttention
    plain = of_torch(inputs, outputs, size, config["groups"], config["bias"], dtype)
    length = int(row["x"])
    x = torch.randn(config["B"], inputs, length, length, dtype=dtype, device="cuda")
    gradient = torch.randn_like(x)
    x.requires_grad_(True)
    layer = plain if row["provider"] == "torch" else own
    return lambda: layer(x), given(gradient), (own, plain)


def of_llama4(row, config, dtype):
    """Both gradients, which are made before."""
    from transformers.models.llama4 import modeling_llama4 as llama
    width, length = (config.get(name, int(row["x"])) for name in ("hidden_size", "seq_len"))
    heads = config["num_q_heads"], config["num_kv_heads"]
    head = width // heads[0]
    settings = llama.Llama4TextConfig(
        hidden_size=width, num_attention_heads=heads[0], num_key_value_heads=heads[1],
        head_dim=head, max_position_embeddings=length, rope_theta=10000.0, rope_scaling=None)
    of_positions = llama.Llama4TextRotaryEmbedding(config=settings, device="cuda")
    q, k = (torch.randn((1, length, count, head), device="cuda", requires_grad=True, dtype=dtype)
            for count in heads)
    gradients = torch.randn_like(q), torch.randn_like(k)
    positions = torch.arange(length, device="cuda", dtype=torch.long).unsqueeze(0)
    rotate = llama.apply_rotary_emb if row["provider"] == "huggingface" \
        else liger("transformers.llama4_rope", "liger_llama4_text_rotary_pos_emb")
    turns = of_positions(q, positions)
    return (lambda: rotate(q, k, turns),
            lambda y: torch.autograd.grad(y, (q, k), gradients, allow_unused=True,
                                          retain_graph=True), (of_positions, positions))


BUILDERS = {
    "fused_moe": of_experts, "fused_neighborhood_attention": of_neighborhood,
    "multi_token_attention": of_many_tokens, "sparse_multi_token_attention": of_many_tokens,
    "llama4_rope": of_llama4, "megatron_cross_entropy": parallel.of_loss,
    "megatron_swiglu": parallel.of_mlp,
}


def train(_, row):
    config = json.loads(row["config"])
    dtype = getattr(torch, config.get("dtype", "torch.float32").removeprefix("torch."))
    builder = BUILDERS.get(row["kernel"], of_loss)
    if builder is of_experts:  # the source's times, of both forms, left cuBLAS's workspaces behind
        small = config | {"sweep_dim": "", "T": 128, "E": 8}
        once(*builder(row | {"provider": "huggingface"}, small, dtype))
    forward, backward, kept = builder(row, config, dtype)

    def full():
        y = forward()
        backward(y)
    step = forward if row["mode"] == "forward" else full
    if row["mode"] == "backward":
        y = forward()
        step = functools.partial(given(torch.randn_like(y)), y)
    for _ in range(TIMES):
        torch.cuda.reset_peak_memory_stats()
        step()


def once(forward, backward, kept):
    backward(forward())


rows.each(lambda row: None, train, group="gpu")
