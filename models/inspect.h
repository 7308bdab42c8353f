// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "models/model.h"
#include "models/table.h"

// What can be asked of a model without training it: what it is made of, and its logits.
namespace headroom {

/// What a model is made of, from any device (on `meta` a large one costs nothing):
///
///     {"parameter_count": 5526346, "parameter_bytes": 22105384,
///      "parameters": [{"name": "class_token", "shape": [1, 1, 192], "dtype": "float32",
///                      "bytes": 768}, ...],
///      "buffers": [],
///      "blocks": [{"parameters": ["encoder.layers.encoder_layer_0.ln_1.weight", ...],
///                  "parameter_count": 444864, "parameter_bytes": 1779456}, ...]}
nlohmann::ordered_json inspect(Model& model);

/// What to run once, to compare with the Python reference. Files are safetensors.
struct ForwardRequest {
  ModelOptions model;
  at::Device device = at::kCPU;
  std::string weights;  // the model's parameters and buffers, by their names
  std::string inputs;   // images: `images` (B, 3, H, W) F32, H = W. texts: `input_ids` (B, T) I64,
                        // and `attention_mask` (B, T) I64 of 0 and 1; without it every token counts
  std::string output;   // gets `logits` F32: (B, C), or (B, T, C) where each token is told
};

/// Runs the model forward in fp32, without dropout, and writes its logits.
/// Throws ConfigError where a file does not hold what it should, Unsupported where the device has
/// no such attention kernel.
void forward(const ForwardRequest& request);

}  // namespace headroom
