# SPDX-License-Identifier: Apache-2.0
"""Trains Llama 3.1 8B, sharded by FSDP2, as rank 0 of many (source.yaml)."""
from collections import defaultdict

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.nn import functional as F
from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts

import rows

WIDTH, WIDE, HEADS, KEYS, SIZE, LAYERS, WORDS = 4096, 14336, 32, 8, 128, 32, 128256
STEPS = 3
aten = torch.ops.aten
SAVED = {aten.mm.default, aten._scaled_dot_product_efficient_attention.default,
         aten._scaled_dot_product_flash_attention.default, aten.abs.default, aten.max.default,
         torch.ops._c10d_functional.reduce_scatter_tensor.default}


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x):
        wide = x.float()
        normed = wide * torch.rsqrt((wide * wide).mean(-1, keepdim=True) + 1e-5)
        return normed.type_as(x) * self.weight


def rotate(x, turns):
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * turns[:x.shape[1]].view(1, -1, 1, SIZE // 2)).flatten(3) \
        .type_as(x)


def repeat(x):
    batch, length, heads, size = x.shape
    many = x[:, :, :, None, :].expand(batch, length, heads, HEADS // KEYS, size)
    return many.reshape(batch, length, HEADS, size)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.wq, self.wo = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(2))
        self.wk, self.wv = (nn.Linear(WIDTH, KEYS * SIZE, bias=False) for _ in range(2))

    def forward(self, x, turns):
        batch, length, _ = x.shape
        q, k, v = (one(x).view(batch, length, -1, SIZE) for one in (self.wq, self.wk, self.wv))
        q, k = rotate(q, turns), rotate(k, turns)
        q, k, v = (one.transpose(1, 2) for one in (q, repeat(k), repeat(v)))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(mixed.transpose(1, 2).contiguous().view(batch, length, -1))


class FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1, self.w3 = (nn.Linear(WIDTH, WIDE, bias=False) for _ in range(2))
        self.w2 = nn.Linear(WIDE, WIDTH, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.feed_forward = Attention(), FeedForward()
        self.attention_norm, self.ffn_norm = Norm(), Norm()

    def forward(self, x, turns):
        h = x + self.attention(self.attention_norm(x), turns)
        return h + self.feed_forward(self.ffn_norm(h))


class Llama(nn.Module):
    def __init__(self, length):
        super().__init__()
        self.tok_embeddings = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm, self.output = Norm(), nn.Linear(WIDTH, WORDS, bias=False)
        turns = torch.polar(torch.ones(length, SIZE // 2), torch.ones(length, SIZE // 2))
        self.register_buffer("turns", turns)

    def forward(self, ids):
        h = self.tok_embeddings(ids)
        for layer in self.layers:
            h = layer(h, self.turns)
        return self.output(self.norm(h))


def contexts():
    """Attention and every other product of matrices are kept, the rest is computed again."""
    counts = defaultdict(int)

    def policy(context, function, *_, **__):
        if function == aten.mm.default:
            counts[context.is_recompute] += 1
        is_kept = function in SAVED and not (
            function == aten.mm.default and counts[context.is_recompute] % 2 == 0)
        return CheckpointPolicy.MUST_SAVE if is_kept else CheckpointPolicy.PREFER_RECOMPUTE
    return create_selective_checkpoint_contexts(policy)


def make_model(row, mesh):
    with torch.device("meta"):
        model = Llama(int(row["length"]))
    if row["float8"]:
        from torchao.float8 import Float8LinearConfig, convert_to_float8_training
        convert_to_float8_training(
            model, config=Float8LinearConfig(enable_fsdp_float8_all_gather=True,
                                             force_recompute_fp8_weight_in_bwd=bool(row["again"])),
            module_filter_fn=lambda _, name: name != "output")
    full = row["checkpointing"] == "full"
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for at, layer in enumerate(model.layers):
        layer = checkpoint_wrapper(layer, preserve_rng_state=False,
                                   **({} if full else {"context_fn": contexts}))
        model.layers[at] = torch.compile(layer, fullgraph=True) if row["compiled"] else layer
        fully_shard(model.layers[at], mesh=mesh, mp_policy=policy,
                    reshard_after_forward=at < LAYERS - 1)
    fully_shard(model, mesh=mesh, mp_policy=policy)
    return model.to_empty(device="cuda")


def loss_of(logits, labels):
    return F.cross_entropy(logits.flatten(0, 1).float(), labels.flatten(0, 1))


def train(_, row):
    ranks = int(row["ranks"])
    torch.cuda.set_device(0)
    # Rank 0 alone: the store holds what it would tell the others.
    dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=ranks)
    model = make_model(row, init_device_mesh("cuda", (ranks,)))
    parameters = list(model.parameters())
    fused = bool(row["fused"])
    optimizer = torch.optim.AdamW(parameters, lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1,
                                  fused=fused, foreach=not fused)
    loss_function = torch.compile(loss_of) if row["compiled_loss"] else loss_of
    for _ in range(STEPS):
        optimizer.zero_grad()
        ids, labels = torch.zeros(2, int(row["batch"]), int(row["length"]), dtype=torch.long).cuda()
        logits = model(ids)
        loss = loss_function(logits, labels)
        del logits
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0, foreach=True)
        optimizer.step()
        if row["float8"]:
            from torchao.float8 import precompute_float8_dynamic_scale_for_fsdp
            precompute_float8_dynamic_scale_for_fsdp(model)


rows.each(lambda row: None, train, group="key")
