# SPDX-License-Identifier: Apache-2.0
"""Stands in for flash-attn, which has no wheel: PyTorch's own copy of the same kernels, with
tensors of the same shapes (source.yaml)."""
import torch


def flash_attn_func(q, k, v, dropout_p=0.0, softmax_scale=None, causal=False, window_size=(-1, -1),
                    softcap=0.0, alibi_slopes=None, deterministic=False, return_attn_probs=False):
    return torch.ops.aten._flash_attention_forward(
        q, k, v, None, None, q.size(1), k.size(1), dropout_p, causal, False,
        scale=softmax_scale)[0]


def flash_attn_varlen_func(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k,
                           dropout_p=0.0, softmax_scale=None, causal=False, **rest):
    return torch.ops.aten._flash_attention_forward(
        q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, dropout_p, causal, False,
        scale=softmax_scale)[0]
