// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

// Rotary position embedding (Su et al. 2021, arXiv:2104.09864): each pair of a head's features is
// turned by an angle that grows with the token's position.
namespace headroom {

/// By how much pairs are turned. Slow ones are slowed down further, as Llama 3.1 stretches a model
/// of `trained_positions` to more of them: transformers' rope_type "llama3".
struct RotaryScaling {
  double theta;
  double factor;
  double low_frequency_factor;
  double high_frequency_factor;
  double trained_positions;
};

/// What T tokens' features are multiplied by.
struct RotaryTables {
  at::Tensor cos;  // (1, 1, T, D / H)
  at::Tensor sin;  // (1, 1, T, D / H)
};

/// Makes tables. It keeps the frequencies, D / 2H numbers, on the device that first asks for them,
/// and no tables: those of a batch live as long as somebody holds them, and are made anew after
/// that.
class Rotary {
 public:
  Rotary(const RotaryScaling& scaling, std::int64_t head_width)
      : scaling_(scaling), head_width_(head_width) {}

  /// Of the first `tokens` positions, as `x` is, on its device; computed in float32 or wider.
  std::shared_ptr<const RotaryTables> tables(std::int64_t tokens, const at::TensorOptions& x);

 private:
  at::Tensor frequencies(const at::TensorOptions& wanted);

  RotaryScaling scaling_;
  std::int64_t head_width_;
  at::Tensor frequencies_;
  std::weak_ptr<const RotaryTables> last_;
};

/// x turned: (B, H, T, D / H), each operation by itself, as transformers' apply_rotary_pos_emb.
at::Tensor rotate(const at::Tensor& x, const RotaryTables& tables);

}  // namespace headroom
