// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>

#include "src/optimizers/factored_moment.h"
#include "src/optimizers/update_rule.h"

namespace headroom {
namespace {

/// Adafactor, without its own learning rate: as the Trainer of transformers sets it (relative_step
/// and scale_parameter off, no first moment). State: factored_moment.h. Source: Shazeer & Stern
/// 2018, arXiv:1804.04235; the order of operations and the temporaries, two of the size of the
/// parameter at work and a root of each moment, are those of Adafactor in transformers 5.23.
class Adafactor final : public UpdateRule {
 public:
  explicit Adafactor(const OptimizerOptions& options) : options_(options) {}
  void apply(const UpdateTensors& tensors, const UpdateStep& step) override;

 private:
  OptimizerOptions options_;
};

void Adafactor::apply(const UpdateTensors& tensors, const UpdateStep& step) {
  for (std::size_t i = 0; i < tensors.parameters.size(); ++i) {
    at::Tensor parameter = tensors.parameters[i];
    at::Tensor weights = parameter.to(wide_dtype(parameter));  // itself, where it is as wide
    at::Tensor update = factored_update(tensors, i, step.number, FactoredTemporaries::two);
    update.mul_(step.lr);
    if (options_.weight_decay != 0.0) weights.add_(weights, -options_.weight_decay * step.lr);
    weights.add_(update.neg());
    parameter.copy_(weights);  // no work where they are one
  }
}

std::unique_ptr<UpdateRule> make_adafactor(const OptimizerOptions& options, StateFactory) {
  return std::make_unique<Adafactor>(options);
}

constexpr Implementation kAdafactorImplementations[] = {Implementation::per_tensor};

}  // namespace

extern constinit const OptimizerEntry kAdafactor{
    .name = "adafactor",
    .summary = "a second moment of a matrix's rows and columns alone; no first moment",
    .implementations = kAdafactorImplementations,
    .make = &make_adafactor,
    .state = &factored_moment,
    .works_on_parts = false,
};

}  // namespace headroom
