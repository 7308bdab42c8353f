// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_sign.h>

#include "src/optimizers/update_rule.h"

namespace headroom {
namespace {

/// Lion: steps by the sign of an average of gradients. One momentum of the parameter's shape and
/// dtype: P * dtype bytes. One temporary, the update: of the size of the parameter at work, or of
/// all with multi_tensor. Weight decay is decoupled. Source: Chen et al. 2023, arXiv:2302.06675;
/// the order of operations is that of lion-pytorch 0.2.5, whose update takes two temporaries.
class Lion final : public UpdateRule {
 public:
  explicit Lion(const OptimizerOptions& options) : options_(options) {}
  void apply(const UpdateTensors& tensors, const UpdateStep& step) override;

 private:
  void apply_per_tensor(const UpdateTensors& tensors, const UpdateStep& step) const;
  void apply_multi_tensor(const UpdateTensors& tensors, const UpdateStep& step) const;

  OptimizerOptions options_;
};

void Lion::apply(const UpdateTensors& tensors, const UpdateStep& step) {
  if (options_.implementation == Implementation::multi_tensor) {
    apply_multi_tensor(tensors, step);
  } else {
    apply_per_tensor(tensors, step);  // the host's too, as there is no fused kernel
  }
}

void Lion::apply_per_tensor(const UpdateTensors& tensors, const UpdateStep& step) const {
  for (std::size_t i = 0; i < tensors.parameters.size(); ++i) {
    at::Tensor parameter = tensors.parameters[i];
    at::Tensor momentum = tensors.state[0][i];
    const at::Tensor& gradient = tensors.gradients[i];
    if (options_.weight_decay != 0.0) parameter.mul_(1.0 - step.lr * options_.weight_decay);
    const at::Tensor update =
        momentum.mul(options_.beta1).add_(gradient, 1.0 - options_.beta1).sign_();
    parameter.add_(update, -step.lr);
    momentum.mul_(options_.momentum_decay).add_(gradient, 1.0 - options_.momentum_decay);
  }
}

void Lion::apply_multi_tensor(const UpdateTensors& tensors, const UpdateStep& step) const {
  const std::vector<at::Tensor>& momenta = tensors.state[0];
  if (options_.weight_decay != 0.0) {
    at::_foreach_mul_(tensors.parameters, 1.0 - step.lr * options_.weight_decay);
  }
  const std::vector<at::Tensor> updates = at::_foreach_mul(momenta, options_.beta1);
  at::_foreach_add_(updates, tensors.gradients, 1.0 - options_.beta1);
  at::_foreach_sign_(updates);
  at::_foreach_add_(tensors.parameters, updates, -step.lr);
  at::_foreach_mul_(momenta, options_.momentum_decay);
  at::_foreach_add_(momenta, tensors.gradients, 1.0 - options_.momentum_decay);
}

std::unique_ptr<UpdateRule> make_lion(const OptimizerOptions& options, StateFactory) {
  return std::make_unique<Lion>(options);
}

std::vector<StateTensor> kept_momentum(const OptimizerOptions&, const at::Tensor& parameter) {
  return {{parameter.sizes().vec(), parameter.scalar_type()}};
}

constexpr Implementation kLionImplementations[] = {Implementation::per_tensor,
                                                   Implementation::multi_tensor};

}  // namespace

extern constinit const OptimizerEntry kLion{
    .name = "lion",
    .summary = "the sign of an average of gradients; weight decay shrinks the weights",
    .implementations = kLionImplementations,
    .make = &make_lion,
    .state = &kept_momentum,
};

}  // namespace headroom
