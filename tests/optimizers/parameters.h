// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/full.h>

#include <vector>

namespace headroom {

inline void set_gradient(const at::Tensor& parameter, const at::Tensor& gradient) {
  at::Tensor(parameter).mutable_grad() = gradient;
}

/// Parameters of two sizes whose numbers and gradients are all alike.
inline std::vector<at::Tensor> constant_parameters(double value, double gradient,
                                                   std::int64_t size = 4) {
  std::vector<at::Tensor> parameters;
  for (const std::int64_t rows : {1, 3}) {
    parameters.push_back(at::full({rows, size}, value, at::kFloat).requires_grad_());
    set_gradient(parameters.back(), at::full({rows, size}, gradient, at::kFloat));
  }
  return parameters;
}

}  // namespace headroom
