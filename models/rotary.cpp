// SPDX-License-Identifier: Apache-2.0
#include "models/rotary.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/where.h>

#include <numbers>

namespace headroom {
namespace {

/// On the CPU, in the order of transformers' _compute_llama3_parameters: (width / 2).
at::Tensor scaled_frequencies(const RotaryScaling& scaling, std::int64_t width,
                              at::ScalarType dtype) {
  const at::Tensor exponents = at::arange(0, width, 2, dtype) / width;
  const at::Tensor plain = 1.0 / at::pow(scaling.theta, exponents);
  const at::Tensor wavelengths = 2.0 * std::numbers::pi / plain;
  const at::Tensor is_long =
      wavelengths.gt(scaling.trained_positions / scaling.low_frequency_factor);
  const at::Tensor is_short =
      wavelengths.lt(scaling.trained_positions / scaling.high_frequency_factor);
  const at::Tensor stretched = at::where(is_long, plain / scaling.factor, plain);
  const at::Tensor smooth =
      (scaling.trained_positions / wavelengths - scaling.low_frequency_factor) /
      (scaling.high_frequency_factor - scaling.low_frequency_factor);
  const at::Tensor between = (1.0 - smooth) * stretched / scaling.factor + smooth * stretched;
  return at::where(is_long.logical_or(is_short), stretched, between);
}

/// (..., x1, x2) -> (..., -x2, x1), by halves of the last dimension.
at::Tensor rotate_half(const at::Tensor& x) {
  const std::int64_t half = x.size(-1) / 2;
  return at::cat({-x.narrow(-1, half, half), x.narrow(-1, 0, half)}, -1);
}

}  // namespace

at::Tensor Rotary::frequencies(const at::TensorOptions& wanted) {
  const at::ScalarType dtype = c10::typeMetaToScalarType(wanted.dtype());
  if (!frequencies_.defined() || frequencies_.scalar_type() != dtype ||
      frequencies_.device() != wanted.device()) {
    frequencies_ = scaled_frequencies(scaling_, head_width_, dtype).to(wanted.device());
  }
  return frequencies_;
}

std::shared_ptr<const RotaryTables> Rotary::tables(std::int64_t tokens,
                                                   const at::TensorOptions& x) {
  const auto is_of = [&](const at::Tensor& table) {
    return table.size(2) == tokens && table.dtype() == x.dtype() && table.device() == x.device();
  };
  if (auto last = last_.lock(); last && is_of(last->cos)) return last;
  const at::NoGradGuard no_grad;
  const at::TensorOptions wide = x.dtype(x.dtype() == at::kDouble ? at::kDouble : at::kFloat);
  const at::Tensor angles = at::arange(tokens, wide).unsqueeze(1) * frequencies(wide);
  const at::Tensor twice = at::cat({angles, angles}, -1).view({1, 1, tokens, head_width_});
  const auto made = std::make_shared<const RotaryTables>(twice.cos().to(x), twice.sin().to(x));
  last_ = made;
  return made;
}

at::Tensor rotate(const at::Tensor& x, const RotaryTables& tables) {
  const at::Tensor upright = x * tables.cos;
  at::Tensor turned = rotate_half(x);
  turned = turned * tables.sin;
  return upright + turned;
}

}  // namespace headroom
