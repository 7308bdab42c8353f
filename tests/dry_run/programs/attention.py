# SPDX-License-Identifier: Apache-2.0
"""Attention by cuDNN, with as many heads of keys as of queries, and with a quarter; prints the peak
of each backward pass beyond what was there."""
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

BATCH, HEADS, LENGTH, WIDTH = 2, 32, 2048, 128


def tensor(heads):
    return torch.randn(BATCH, heads, LENGTH, WIDTH, device="cuda", dtype=torch.bfloat16,
                       requires_grad=True)


def peak_of_backward(heads):
    q, k, v = tensor(HEADS), tensor(heads), tensor(heads)
    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        result = scaled_dot_product_attention(q, k, v, enable_gqa=heads != HEADS)
    gradient = torch.ones_like(result)
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    result.backward(gradient)
    return torch.cuda.max_memory_allocated() - before


def seconds_of(length):
    q = torch.randn(BATCH, HEADS, length, WIDTH, device="cuda", dtype=torch.bfloat16)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        scaled_dot_product_attention(q, q, q)
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1e3


# cuDNN compiles a kernel for each length.
assert seconds_of(512) > 0.05 > 0.01 > seconds_of(512) and seconds_of(513) > 0.05
print("own", peak_of_backward(HEADS))
print("shared", peak_of_backward(HEADS // 4))
