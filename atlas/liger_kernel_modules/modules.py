# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks of liger-kernel compare its layers with: the same by PyTorch's own parts."""
import torch
import torch.nn.functional as F
from torch import nn


def experts_in_turn(x, up, down, chosen, weights):
    """A mixture of experts as transformers' Mixtral has it, expert by expert."""
    total = torch.zeros_like(x)
    with torch.no_grad():
        places = F.one_hot(chosen.long(), num_classes=up.shape[0]).permute(2, 1, 0)
        hit = torch.greater(places.sum(dim=(-1, -2)), 0).nonzero()
    for row in hit:
        expert = row[0]
        slot, token = torch.where(places[expert])
        part = x[token]
        gate, other = F.linear(part, up[expert]).chunk(2, dim=-1)
        part = F.silu(gate) * other
        part = F.linear(part, down[expert])
        part = part * weights[token, slot, None]
        total.index_add_(0, token, part.to(total.dtype))
    return total


class NeighborhoodAttention(nn.Module):
    """Attention to the nearest ones, by a mask that the host writes number by number."""

    def __init__(self, hidden_size, num_heads, kernel_size, dilation, bias):
        super().__init__()
        self.heads, self.width = num_heads, hidden_size // num_heads
        self.reach, self.dilation = kernel_size // 2 * dilation, dilation
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            setattr(self, name, nn.Linear(hidden_size, hidden_size, bias=bias))

    def mask(self, length, device):
        mask = torch.zeros(length, length, device=device, dtype=torch.bool)
        for i in range(length):
            for j in range(max(0, i - self.reach), min(length, i + self.reach + 1)):
                if (j - i) % self.dilation == 0:
                    mask[i, j] = True
        return mask

    def forward(self, x):
        batch, length, size = x.shape
        query, key, value = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        query = query.view(batch, length, self.heads, self.width).transpose(1, 2)
        key = key.view(batch, length, self.heads, self.width).transpose(1, 2)
        value = value.view(batch, length, self.heads, self.width).transpose(1, 2)
        scores = torch.matmul(query, key.transpose(-2, -1)) * self.width ** -0.5
        mask = self.mask(length, x.device)
        scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        y = torch.matmul(weights, value)
        y = y.transpose(1, 2).contiguous().view(batch, length, size)
        return self.out_proj(y)


class MultiTokenAttention(nn.Module):
    """Softmax over masked scores, and a convolution over the weights."""

    def __init__(self, inputs, outputs, size, groups, bias, dtype):
        super().__init__()
        options = {"dtype": dtype, "device": "cuda"}
        self.weight = nn.Parameter(torch.empty(outputs, inputs // groups, size, size, **options))
        self.bias = nn.Parameter(torch.empty(outputs, **options)) if bias else None
        self.padding, self.groups = size // 2, groups

    def forward(self, scores):
        length = scores.shape[2]
        mask = torch.tril(torch.ones(length, length, dtype=torch.bool, device=scores.device))
        mask = mask.view(1, 1, length, length)
        low = torch.tensor(-1e9, device=scores.device, dtype=scores.dtype)
        zero = torch.tensor(0.0, device=scores.device, dtype=scores.dtype)
        masked = scores.masked_fill(~mask, low)
        weights = F.softmax(masked, dim=-1)
        y = F.conv2d(weights, self.weight, self.bias, stride=1, padding=self.padding,
                     groups=self.groups)
        return y.masked_fill(~mask, zero)


class SparseMultiTokenAttention(MultiTokenAttention):
    """With sparsemax in place of softmax, in float32."""

    def forward(self, scores):
        length = scores.shape[2]
        mask = torch.tril(torch.ones(length, length, dtype=torch.bool, device=scores.device))
        mask = mask.view(1, 1, length, length)
        low = torch.tensor(-1e9, device=scores.device, dtype=torch.float32)
        zero = torch.tensor(0.0, device=scores.device, dtype=torch.float32)
        full = scores.to(torch.float32)
        z = full.masked_fill(~mask, low)
        ordered, _ = torch.sort(z, dim=-1, descending=True)
        sums = torch.cumsum(ordered, dim=-1)
        count = torch.arange(1, length + 1, device=z.device, dtype=z.dtype)
        count = count.view(1, 1, 1, length)
        is_seen = ordered > -1e8
        support = (1 + count * ordered > sums) & is_seen
        size = torch.sum(support, dim=-1, keepdim=True)
        some = torch.max(size, torch.ones_like(size))
        last = torch.gather(sums, dim=-1, index=some.long() - 1)
        threshold = (last - 1) / some.to(z.dtype)
        threshold = torch.where(size == 0, torch.full_like(threshold, float("inf")), threshold)
        weights = torch.clamp(z - threshold, min=0)
        weight = self.weight.to(torch.float32)
        bias = self.bias.to(torch.float32) if self.bias is not None else None
        y = F.conv2d(weights, weight, bias, stride=1, padding=self.padding, groups=self.groups)
        return y.masked_fill(~mask, zero).to(scores.dtype)
