// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>

#include "src/optimizers/factored_moment.h"
#include "src/optimizers/update_rule.h"

namespace headroom {
namespace {

constexpr double kLeastRms = 1e-3;  // that a parameter's step is a share of

/// AdaLomo: Adafactor's update, whose step is a share of the parameter's own rms; no first moment.
/// Meant to run in backward, where gradients live one at a time. Weight decay is decoupled. State:
/// factored_moment.h. One temporary of the size of the parameter at work, and a root of each
/// moment. Source: Lv et al. 2023, arXiv:2310.10195; the order of operations is that of lomo-optim
/// 0.1.1, which has vectors and matrices alone, and two temporaries.
class AdaLomo final : public UpdateRule {
 public:
  explicit AdaLomo(const OptimizerOptions& options) : options_(options) {}
  void apply(const UpdateTensors& tensors, const UpdateStep& step) override;

 private:
  OptimizerOptions options_;
};

void AdaLomo::apply(const UpdateTensors& tensors, const UpdateStep& step) {
  for (std::size_t i = 0; i < tensors.parameters.size(); ++i) {
    at::Tensor parameter = tensors.parameters[i];
    at::Tensor update = factored_update(tensors, i, step.number, FactoredTemporaries::one);
    at::Tensor weights = parameter.to(wide_dtype(parameter));  // itself, where it is as wide
    const at::Tensor lr = rms(weights).clamp_min_(kLeastRms).mul_(step.lr);  // ()
    if (options_.weight_decay != 0.0) weights.mul_(1.0 - lr * options_.weight_decay);
    weights.sub_(update.mul_(lr));
    parameter.copy_(weights);  // no work where they are one
  }
}

std::unique_ptr<UpdateRule> make_adalomo(const OptimizerOptions& options, StateFactory) {
  return std::make_unique<AdaLomo>(options);
}

constexpr Implementation kAdaLomoImplementations[] = {Implementation::per_tensor};

}  // namespace

extern constinit const OptimizerEntry kAdaLomo{
    .name = "adalomo",
    .summary = "Adafactor's update as a share of the parameter's size; for updates in backward",
    .implementations = kAdaLomoImplementations,
    .make = &make_adalomo,
    .state = &factored_moment,
    .works_on_parts = false,
};

}  // namespace headroom
