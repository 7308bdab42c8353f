// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace headroom {

/// Which kernel computes softmax(Q K^T / sqrt(D)) V, since that decides what is kept for backward.
enum class Attention {
  eager,      // two products and a softmax: scores, probabilities and dropout mask are kept
  flash,      // tiled; keeps one number per query
  efficient,  // memory-efficient kernel (CUDA)
  cudnn,      // cuDNN's kernel (CUDA)
  math,       // PyTorch's reference composition
};

/// Attention of H heads. q, k, v: (B, H, T, D); mask: (B, 1, 1, T) bool, true where a key counts,
/// or undefined. Returns (B, H, T, D).
/// Throws Unsupported where that kernel can't serve this device, dtype or mask: it never falls
/// back to another one, which would have another peak.
at::Tensor attend(Attention kind, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                  const at::Tensor& mask, double dropout);

/// The mask that `attend` takes, from a batch's attention mask (B, T) int64; undefined stays so.
at::Tensor key_mask(const at::Tensor& attention_mask);

/// (B, T, H * D) -> (B, H, T, D), a view; and back.
at::Tensor split_heads(const at::Tensor& x, std::int64_t heads);
at::Tensor merge_heads(const at::Tensor& x);

}  // namespace headroom
