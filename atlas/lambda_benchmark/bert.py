# SPDX-License-Identifier: Apache-2.0
"""BERT that marks where an answer begins and ends, and its two ways to train, as NVIDIA's
DeepLearningExamples have them (source.yaml)."""
import math

import torch
from torch import nn
from torch.nn import functional

import replica

WORDS, TOKENS = 30522, 384
BUCKET = 10_000_000  # numbers that apex reduces at once
SIZES = {"base": (12, 768, 12), "large": (24, 1024, 16)}  # layers, width, heads


class Attention(nn.Module):
    """Of (tokens, batch, width)."""
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.dropout = nn.Dropout(0.1)

    def forward(self, x, mask):
        tokens, batch, width = x.shape
        query, key, value = (
            of(x).view(tokens, batch * self.heads, width // self.heads)
            for of in (self.query, self.key, self.value))
        scores = torch.bmm(query.transpose(0, 1), key.permute(1, 2, 0))
        scores = scores.view(batch, self.heads, tokens, tokens) / math.sqrt(width // self.heads)
        shares = self.dropout(functional.softmax(scores + mask, dim=-1))
        mixed = torch.bmm(shares.view(batch * self.heads, tokens, tokens), value.transpose(0, 1))
        return mixed.transpose(0, 1).contiguous().view(tokens, batch, width)


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attention = Attention(width, heads)
        self.mix = nn.Linear(width, width)
        self.widen, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width, eps=1e-12) for _ in range(2))
        self.dropouts = nn.ModuleList(nn.Dropout(0.1) for _ in range(2))

    def forward(self, x, mask):
        x = self.norms[0](self.dropouts[0](self.mix(self.attention(x, mask))) + x)
        wide = functional.gelu(self.widen(x), approximate="tanh")
        return self.norms[1](self.dropouts[1](self.narrow(wide)) + x)


class Bert(nn.Module):
    def __init__(self, size):
        super().__init__()
        layers, width, heads = SIZES[size]
        self.words, self.places = nn.Embedding(WORDS, width), nn.Embedding(512, width)
        self.parts = nn.Embedding(2, width)
        self.norm, self.dropout = nn.LayerNorm(width, eps=1e-12), nn.Dropout(0.1)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.ends = nn.Linear(width, 2)

    def forward(self, words, parts, mask):
        mask = (1.0 - mask[:, None, None].to(self.ends.weight.dtype)) * -10000.0
        places = torch.arange(words.size(1), device=words.device).expand_as(words)
        x = self.words(words) + self.places(places) + self.parts(parts)
        x = self.dropout(self.norm(x)).transpose(0, 1)
        for layer in self.layers:
            x = layer(x, mask)
        return [logits.squeeze(-1) for logits in self.ends(x.transpose(0, 1)).split(1, dim=-1)]


def clip(gradients):
    norm = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(gradients))).item()
    torch._foreach_mul_(gradients, 1 / max(norm, 1.0))


class HalfTraining:
    """apex's level O2: weights of 16 bits, of which the optimizer has others of 32. Gradients of
    the former stay, zeroed, until backward begins, those of the latter until their update."""
    def __init__(self, model):
        self.weights = list(model.half().parameters())
        self.masters = [weight.detach().float() for weight in self.weights]
        self.optimizer = torch.optim.Adam(self.masters, lr=3e-5, fused=True)

    def update(self, loss):
        for weight in self.weights:
            weight.grad = None
        (loss.float() * 65536.0).backward()
        self.step()

    @torch.no_grad()
    def step(self):
        for master in self.masters:
            master.grad = torch.empty_like(master)
        gradients = [master.grad for master in self.masters]
        torch._foreach_copy_(gradients, [weight.grad for weight in self.weights])
        torch._foreach_mul_(gradients, 1 / 65536.0)
        clip(gradients)
        self.optimizer.step()
        torch._foreach_copy_(self.weights, self.masters)
        for weight, master in zip(self.weights, self.masters):
            weight.grad.zero_()
            master.grad = None


class BertAdam(torch.optim.Optimizer):
    """One kernel an operation, weight by weight."""
    def __init__(self, weights):
        super().__init__(weights, {"lr": 3e-5})

    @torch.no_grad()
    def step(self, closure=None):
        for weight in self.param_groups[0]["params"]:
            state = self.state[weight]
            if not state:
                state["m"], state["v"] = torch.zeros_like(weight), torch.zeros_like(weight)
            nn.utils.clip_grad_norm_(weight, 1.0)
            state["m"].mul_(0.9).add_(weight.grad, alpha=0.1)
            state["v"].mul_(0.999).addcmul_(weight.grad, weight.grad, value=0.001)
            update = state["m"] / (state["v"].sqrt() + 1e-6)
            if weight.dim() > 1:
                update += 0.01 * weight
            weight.add_(-(3e-5 * update))


class PlainTraining:
    def __init__(self, model):
        self.weights = list(model.parameters())
        self.optimizer = BertAdam(self.weights)

    def update(self, loss):
        loss.backward()
        clip([weight.grad for weight in self.weights])
        self.optimizer.step()
        self.optimizer.zero_grad()


def train(model, half, batch, ranks, steps):
    training = (HalfTraining if half else PlainTraining)(model.cuda().train())
    model = replica.of(model, ranks, bucket_cap_mb=BUCKET * (2 if half else 4) / 2**20)
    words = torch.ones(batch, TOKENS, dtype=torch.long)
    parts, begins = torch.zeros_like(words), torch.ones(batch, dtype=torch.long)
    for _ in range(steps):
        inputs = [of.to("cuda") for of in (words, parts, parts, begins, begins)]
        logits = model(*inputs[:3])
        losses = [functional.cross_entropy(of, to) for of, to in zip(logits, inputs[3:])]
        loss = (losses[0] + losses[1]) / 2
        training.update(loss)
        loss.item()
