// SPDX-License-Identifier: Apache-2.0
#include "src/worker/gradient_norms.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>

#include <cmath>

namespace headroom {

void GradientNorms::note(std::size_t index, const at::Tensor& gradient) {
  if (!gradient.defined()) return;
  const at::NoGradGuard no_grad;
  norms_[index] = gradient.norm().item<double>();
}

std::optional<double> GradientNorms::total(const GradientShare& share, at::Device device) const {
  double sum = 0.0;
  for (std::size_t i = 0; i < norms_.size(); ++i) {
    const double norm = norms_[i].value_or(0.0);
    if (share.has(i)) sum += norm * norm;
  }
  if (share.complete) {
    at::Tensor sum_of_all = at::full({}, sum, at::device(device).dtype(at::kDouble));
    share.complete(sum_of_all);
    sum = sum_of_all.item<double>();
  }
  return std::isfinite(sum) ? std::optional(std::sqrt(sum)) : std::nullopt;
}

}  // namespace headroom
