// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "models/table.h"

namespace headroom {

/// What to run once, to compare with the Python reference. Files are safetensors.
struct ForwardRequest {
  ModelOptions model;
  at::Device device = at::kCPU;
  std::string weights;  // the model's parameters, by their names
  std::string inputs;   // images: `images` (B, 3, H, W) F32, H = W. texts: `input_ids` (B, T) I64,
                        // and `attention_mask` (B, T) I64 of 0 and 1; without it every token counts
  std::string output;   // gets `logits` F32: (B, C), or (B, T, C) where each token is told
};

/// Runs the model forward in fp32, without dropout, and writes its logits.
/// Throws ConfigError where a file does not hold what it should, Unsupported where the device has
/// no such attention kernel.
void forward(const ForwardRequest& request);

}  // namespace headroom
