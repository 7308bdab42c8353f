// SPDX-License-Identifier: Apache-2.0
#include "techniques/loss_scaler.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <ATen/ops/_amp_update_scale.h>
#include <ATen/ops/full.h>

#include <vector>

namespace headroom {
namespace {

constexpr double kFirstScale = 65536.0;
constexpr double kGrowth = 2.0;
constexpr double kBackoff = 0.5;
constexpr std::int64_t kGrowthInterval = 2000;

}  // namespace

LossScaler::LossScaler(at::Device device)
    : scale_(at::full({1}, kFirstScale, at::TensorOptions().device(device).dtype(at::kFloat))),
      growth_(at::full({1}, 0, at::TensorOptions().device(device).dtype(at::kInt))),
      found_inf_(at::full({1}, 0.0, at::TensorOptions().device(device).dtype(at::kFloat))) {}

at::Tensor LossScaler::scale(const at::Tensor& loss) const { return loss.mul(scale_.squeeze()); }

void LossScaler::unscale_gradients(std::span<const at::Tensor> parameters) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : parameters) {
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  }
  found_inf_.zero_();
  at::_amp_foreach_non_finite_check_and_unscale_(gradients, found_inf_, scale_.reciprocal());
}

void LossScaler::adapt() {
  at::_amp_update_scale_(scale_, growth_, found_inf_, kGrowth, kBackoff, kGrowthInterval);
}

double LossScaler::current_scale() const { return scale_.item<float>(); }

}  // namespace headroom
