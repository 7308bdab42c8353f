// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace headroom {

/// What a model reads for one step. B samples; images have 3 channels, H x W; texts T tokens.
struct Batch {
  at::Tensor inputs;          // (B, 3, H, W) fp32 images, or (B, T) int64 token ids
  at::Tensor attention_mask;  // (B, T) int64, 1 where a token counts; undefined: every token does
  at::Tensor labels;          // (B) int64 class ids; undefined where only logits are wanted

  std::int64_t size() const { return inputs.size(0); }
  /// Samples [start, start + count), as views.
  Batch slice(std::int64_t start, std::int64_t count) const;
  Batch to(at::Device device) const;
};

}  // namespace headroom
