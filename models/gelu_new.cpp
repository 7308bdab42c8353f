// SPDX-License-Identifier: Apache-2.0
#include "models/gelu_new.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/tanh.h>

#include <cmath>
#include <numbers>

namespace headroom {

at::Tensor gelu_new(const at::Tensor& x) {
  // One after the other, since what stands in one expression is not freed before its end.
  at::Tensor y = 0.5 * x;
  at::Tensor inner = at::pow(x, 3.0);
  inner = 0.044715 * inner;
  inner = x + inner;
  inner = std::sqrt(2.0 / std::numbers::pi) * inner;
  inner = at::tanh(inner);
  inner = 1.0 + inner;
  return y * inner;
}

}  // namespace headroom
