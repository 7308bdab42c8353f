// SPDX-License-Identifier: Apache-2.0
#include "src/optimizers/clip.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/stack.h>

#include <vector>

namespace headroom {

at::Tensor clip_gradients(std::span<const at::Tensor> parameters, double max_norm,
                          const GradientShare& share) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> gradients;
  std::vector<at::Tensor> counted;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const at::Tensor& gradient = parameters[i].grad();
    if (!gradient.defined()) continue;
    gradients.push_back(gradient);
    if (share.has(i)) counted.push_back(gradient);
  }
  if (counted.empty()) return {};
  at::Tensor norm = at::stack(at::_foreach_norm(counted, 2)).norm();
  if (share.complete) {
    at::Tensor sum_of_squares = norm.square();
    share.complete(sum_of_squares);
    norm = sum_of_squares.sqrt();
  }
  const at::Tensor scale = norm.add(1e-6).reciprocal().mul_(max_norm).clamp_max_(1.0);
  at::_foreach_mul_(gradients, scale);
  return norm;
}

}  // namespace headroom
