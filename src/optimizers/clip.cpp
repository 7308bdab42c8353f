// SPDX-License-Identifier: Apache-2.0
#include "src/optimizers/clip.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/stack.h>

#include <vector>

namespace headroom {

at::Tensor clip_gradients(std::span<const at::Tensor> parameters, double max_norm,
                          const std::function<void(at::Tensor&)>& complete) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : parameters) {
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  }
  if (gradients.empty()) return {};
  at::Tensor norm = at::stack(at::_foreach_norm(gradients, 2)).norm();
  if (complete) {
    at::Tensor sum_of_squares = norm.square();
    complete(sum_of_squares);
    norm = sum_of_squares.sqrt();
  }
  const at::Tensor scale = norm.add(1e-6).reciprocal().mul_(max_norm).clamp_max_(1.0);
  at::_foreach_mul_(gradients, scale);
  return norm;
}

}  // namespace headroom
