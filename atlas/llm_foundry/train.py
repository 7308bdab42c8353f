# SPDX-License-Identifier: Apache-2.0
"""Trains MPT, sharded by FSDP as Composer does, as rank 0 of many (source.yaml)."""
import torch
import torch.distributed as dist
import triton
import triton.language as tl
from torch import nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import (
    CheckpointImpl, apply_activation_checkpointing, checkpoint_wrapper)
from torch.distributed.fsdp import (
    BackwardPrefetch, FullyShardedDataParallel, MixedPrecision, ShardingStrategy)
from torch.distributed.fsdp.wrap import CustomPolicy
from torch.nn import functional as F

import rows

WORDS = 50368
SIZES = {  # width, heads, layers
    "125m": (768, 12, 12), "350m": (1024, 16, 24), "760m": (1536, 12, 24), "1b": (2048, 16, 24),
    "3b": (2560, 20, 32), "7b": (4096, 32, 32), "13b": (5120, 40, 40), "30b": (7168, 56, 48),
    "70b": (8192, 64, 80)}
STEPS = 3
PART = tl.constexpr(4096)  # of the words of a row


@triton.jit
def log_sum_exp(logits, sums, words):
    row = tl.program_id(0).to(tl.int64)
    most = float("-inf")
    for at in range(0, words, PART):
        index = at + tl.arange(0, PART)
        part = tl.load(logits + row * words + index, mask=index < words, other=float("-inf"))
        most = tl.maximum(most, tl.max(part.to(tl.float32)))
    total = 0.0
    for at in range(0, words, PART):
        index = at + tl.arange(0, PART)
        part = tl.load(logits + row * words + index, mask=index < words, other=float("-inf"))
        total += tl.sum(tl.exp(part.to(tl.float32) - most))
    tl.store(sums + row, most + tl.log(total))


@triton.jit
def gradient_of_logits(logits, sums, labels, gradients, given, words):
    row = tl.program_id(0).to(tl.int64)
    index = tl.program_id(1) * PART + tl.arange(0, PART)
    inside = index < words
    part = tl.load(logits + row * words + index, mask=inside, other=0.0).to(tl.float32)
    gradient = tl.exp(part - tl.load(sums + row))
    gradient = tl.where(index == tl.load(labels + row), gradient - 1, gradient)
    tl.store(gradients + row * words + index, gradient * tl.load(given + row), mask=inside)


class CrossEntropy(torch.autograd.Function):
    """In one kernel forward and one backward, with numbers of 16 bits, as FlashAttention's."""

    @staticmethod
    def forward(context, logits, labels):
        count, words = logits.shape
        sums = torch.empty(count, device="cuda")
        log_sum_exp[(count,)](logits, sums, words)
        context.save_for_backward(logits, sums, labels)
        return sums - logits.gather(1, labels[:, None])[:, 0]

    @staticmethod
    def backward(context, given):
        logits, sums, labels = context.saved_tensors
        count, words = logits.shape
        gradients = torch.empty_like(logits)
        parts = (words + PART.value - 1) // PART.value
        gradient_of_logits[(count, parts)](
            logits, sums, labels, gradients, given.contiguous(), words)
        return gradients, None


class DecoupledAdamW(torch.optim.Optimizer):
    """Composer's: weight by weight, each of which counts its steps on the GPU."""

    def __init__(self, parameters):
        super().__init__(parameters, {})

    @torch.no_grad()
    def step(self):
        for weight in self.param_groups[0]["params"]:
            if weight.grad is None:
                continue
            state = self.state[weight]
            if not state:
                state["step"] = torch.zeros((), device="cuda")
                state["mean"], state["square"] = torch.zeros_like(weight), torch.zeros_like(weight)
            state["step"] += 1
            state["step"].item()
            mean, square = state["mean"], state["square"]
            mean.mul_(0.9).add_(weight.grad, alpha=0.1)
            square.mul_(0.95).addcmul_(weight.grad, weight.grad, value=0.05)
            weight.addcdiv_(mean, (square.sqrt() / 0.5).add_(1e-8), value=-1e-4)


class Words(nn.Embedding):
    """Of what comes in, and of what is foretold."""

    def forward(self, x, foretells=False):
        return F.linear(x, self.weight) if foretells else super().forward(x)


class Norm(nn.LayerNorm):
    """In 16 bits."""

    def forward(self, x):
        with torch.autocast("cuda", enabled=False):
            return F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = Norm(width), Norm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        q, k, v = (each.unflatten(2, (self.heads, -1)).transpose(1, 2)
                   for each in self.qkv(self.norm_1(x)).chunk(3, dim=2))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.norm_2(x))))


class Mpt(nn.Module):
    def __init__(self, row):
        super().__init__()
        width, heads, layers = SIZES[row["model"]]
        length = int(row["length"])
        self.words, self.places = Words(WORDS, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = Norm(width)

    def forward(self, ids):
        x = self.words(ids) + self.places(torch.arange(ids.shape[1], device="cuda")[None])
        for block in self.blocks:
            x = block(x)
        return self.words(self.norm(x), foretells=True)


def sharded(row):
    with torch.device("meta"):
        model = Mpt(row)
    half = torch.bfloat16
    reduced = half if row["mixed_precision"] == "PURE" else torch.float32
    apart = [model.words, model.places, model.norm, *model.blocks]
    model = FullyShardedDataParallel(
        model, auto_wrap_policy=CustomPolicy(lambda module: module in apart),
        use_orig_params=True, backward_prefetch=BackwardPrefetch.BACKWARD_POST,
        sharding_strategy=ShardingStrategy[row["sharding"]], limit_all_gathers=True,
        mixed_precision=MixedPrecision(half, reduced, torch.float32),
        param_init_fn=lambda module: module.to_empty(device="cuda", recurse=False),
        device_id=torch.cuda.current_device())
    if row["checkpointing"]:
        apply_activation_checkpointing(
            model, check_fn=lambda module: isinstance(module, Block),
            checkpoint_wrapper_fn=lambda module: checkpoint_wrapper(
                module, checkpoint_impl=CheckpointImpl.NO_REENTRANT))
    return model


@torch.no_grad()
def measure(logits, labels):
    """The two metrics of each micro-batch, cross entropy and perplexity."""
    with torch.autocast("cuda", torch.bfloat16):
        for _ in range(2):
            F.cross_entropy(logits, labels, reduction="sum")


def train(_, row):
    torch.cuda.set_device(0)
    # Rank 0 alone: the store holds what it would tell the others.
    dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=int(row["ranks"]))
    model = sharded(row)
    optimizer = DecoupledAdamW(model.parameters())
    batches, batch = int(row["accumulation"]), int(row["micro_batch"])
    words = torch.zeros(batches * batch, int(row["length"]), dtype=torch.long).pin_memory()
    for _ in range(STEPS):
        for ids in words.cuda(non_blocking=True).split(batch):
            labels = ids.roll(-1, 1)
            with torch.autocast("cuda", torch.bfloat16):
                logits = model(ids).flatten(0, 1)
                losses = CrossEntropy.apply(logits, labels.flatten())
            (losses.mean() / batches).backward()
            measure(logits, labels.flatten())
        model.clip_grad_norm_(1.0)
        optimizer.step()
        optimizer.zero_grad()


rows.each(lambda row: None, train, group="key")
