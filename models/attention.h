// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace headroom {

/// Which kernel computes softmax(Q K^T / sqrt(D)) V, since that decides what is kept for backward.
enum class Attention {
  // A rule, not a trial: `flash` on the CPU;
  // on CUDA `flash` where its kernel can serve (products in 16 bits, no mask, compute capability
  // 8.0 and up), else `efficient`.
  automatic,
  eager,      // two products and a softmax: probabilities are kept, before and after dropout
  flash,      // tiled; keeps one number per query
  efficient,  // memory-efficient kernel (CUDA)
  cudnn,      // cuDNN's kernel (CUDA)
  math,       // PyTorch's reference composition
  // eager as transformers 4.16 wrote it and PyTorch 1.10 ran it (early 2022). softmax keeps its
  // input, the scores, as well: pytorch/pytorch, issue 64000 and pull request 66018, which ended it
  // in 1.11. And a mask in the weights' dtype is added to the scores even where every key counts,
  // so that under autocast the scores that softmax reads and keeps are float32. Beyond eager it
  // keeps B * H * T * T values a layer: 4 bytes each under autocast, else as wide as q.
  eager_torch_1_10,
};

/// Attention of H heads. q: (B, H, T, D); k, v: (B, G, T, D), where each of G heads serves the next
/// H / G of q; mask: (B, 1, 1, T) bool, true where a key counts, or undefined.
/// Returns (B, H, T, D).
/// Of k and v with fewer heads than q, kernels that read them so keep them so; `efficient` and both
/// eager ones read and keep copies with H heads, as transformers' repeat_kv makes them.
/// Throws Unsupported where that kernel can't serve this device, dtype or mask: it never falls
/// back to another one, which would have another peak.
at::Tensor attend(Attention kind, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                  const at::Tensor& mask, double dropout);

/// The dtype in which `eager` computes and keeps its softmax.
enum class SoftmaxIn {
  scores,   // that of the scores
  float32,  // float32, where the scores are narrower; what is dropped from is cast back
};

/// The same where each query attends to its own key and those before it alone.
at::Tensor attend_to_past(Attention kind, const at::Tensor& q, const at::Tensor& k,
                          const at::Tensor& v, const at::Tensor& mask, double dropout,
                          SoftmaxIn softmax_in = SoftmaxIn::scores);

/// The mask that `attend` takes, from a batch's attention mask (B, T) int64; undefined stays so.
at::Tensor key_mask(const at::Tensor& attention_mask);

/// (B, T, H * D) -> (B, H, T, D), a view, by the width D of a head; and back.
at::Tensor split_heads(const at::Tensor& x, std::int64_t head_width);
at::Tensor merge_heads(const at::Tensor& x);

}  // namespace headroom
