// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcdiv.h>
#include <ATen/ops/_foreach_addcmul.h>
#include <ATen/ops/_foreach_div.h>
#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_sqrt.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <utility>

#include "src/optimizers/update_rule.h"

namespace headroom {
namespace {

/// Adam and AdamW. Two moments of the parameter's shape and dtype: 2 * P * dtype bytes.
/// Source: Kingma & Ba, arXiv:1412.6980; Loshchilov & Hutter, arXiv:1711.05101; the order of
/// operations and the temporaries are those of torch.optim.Adam in PyTorch 2.11, or in 2.0 where
/// the implementation says so. At the update's peak multi_tensor holds 5 P * dtype bytes (weights,
/// gradients, two moments, denominators), multi_tensor_torch_2_0 6 P * dtype.
class Adam final : public UpdateRule {
 public:
  Adam(const OptimizerOptions& options, bool decoupled_decay, StateFactory make_state)
      : options_(options), decoupled_decay_(decoupled_decay), make_state_(std::move(make_state)) {}
  void apply(const UpdateTensors& tensors, const UpdateStep& step) override;
  std::vector<at::Tensor> counters() const override;

 private:
  struct Moments {
    const std::vector<at::Tensor>& first;
    const std::vector<at::Tensor>& second;
  };
  void apply_per_tensor(const UpdateTensors& tensors, const Moments& moments,
                        const UpdateStep& step);
  void apply_multi_tensor(const UpdateTensors& tensors, const Moments& moments,
                          const UpdateStep& step);
  void apply_multi_tensor_torch_2_0(const UpdateTensors& tensors, const Moments& moments,
                                    const UpdateStep& step);
  void apply_fused(const UpdateTensors& tensors, const Moments& moments, const UpdateStep& step);
  std::vector<at::Tensor> decay_weights(const UpdateTensors& tensors, double lr) const;

  OptimizerOptions options_;
  bool decoupled_decay_;  // AdamW
  StateFactory make_state_;
  // Of the fused kernels, on the device, so that a skipped update needs no word from the host.
  at::Tensor steps_done_;     // shape (); the number of this update, skipped ones not counted
  at::Tensor steps_skipped_;  // shape ()
};

void Adam::apply(const UpdateTensors& tensors, const UpdateStep& step) {
  const Moments moments{tensors.state[0], tensors.state[1]};
  switch (options_.implementation) {
    case Implementation::per_tensor:
      return apply_per_tensor(tensors, moments, step);
    case Implementation::multi_tensor:
      return apply_multi_tensor(tensors, moments, step);
    case Implementation::multi_tensor_torch_2_0:
      return apply_multi_tensor_torch_2_0(tensors, moments, step);
    case Implementation::fused:
      return apply_fused(tensors, moments, step);
  }
}

void Adam::apply_per_tensor(const UpdateTensors& tensors, const Moments& moments,
                            const UpdateStep& step) {
  const double correction1 = 1.0 - std::pow(options_.beta1, step.number);
  const double correction2 = std::sqrt(1.0 - std::pow(options_.beta2, step.number));
  const double decay = options_.weight_decay;
  for (std::size_t i = 0; i < tensors.parameters.size(); ++i) {
    at::Tensor parameter = tensors.parameters[i];
    at::Tensor gradient = tensors.gradients[i];
    if (decay != 0.0 && decoupled_decay_) parameter.mul_(1.0 - step.lr * decay);
    if (decay != 0.0 && !decoupled_decay_) gradient = gradient.add(parameter, decay);
    at::Tensor(moments.first[i]).lerp_(gradient, 1.0 - options_.beta1);
    at::Tensor(moments.second[i])
        .mul_(options_.beta2)
        .addcmul_(gradient, gradient, 1.0 - options_.beta2);
    const at::Tensor denominator = moments.second[i].sqrt().div(correction2).add_(options_.eps);
    parameter.addcdiv_(moments.first[i], denominator, -step.lr / correction1);
  }
}

/// The multi-tensor updates' first act: decays the weights, or returns gradients with the decay.
std::vector<at::Tensor> Adam::decay_weights(const UpdateTensors& tensors, double lr) const {
  const double decay = options_.weight_decay;
  if (decay == 0.0) return tensors.gradients;
  if (!decoupled_decay_) return at::_foreach_add(tensors.gradients, tensors.parameters, decay);
  at::_foreach_mul_(tensors.parameters, 1.0 - lr * decay);
  return tensors.gradients;
}

void Adam::apply_multi_tensor(const UpdateTensors& tensors, const Moments& moments,
                              const UpdateStep& step) {
  const double correction1 = 1.0 - std::pow(options_.beta1, step.number);
  const double correction2 = std::sqrt(1.0 - std::pow(options_.beta2, step.number));
  const std::vector<at::Tensor> gradients = decay_weights(tensors, step.lr);
  at::_foreach_lerp_(moments.first, gradients, 1.0 - options_.beta1);
  at::_foreach_mul_(moments.second, options_.beta2);
  at::_foreach_addcmul_(moments.second, gradients, gradients, 1.0 - options_.beta2);
  const std::vector<at::Tensor> denominators = at::_foreach_sqrt(moments.second);
  at::_foreach_div_(denominators, correction2);
  at::_foreach_add_(denominators, options_.eps);
  at::_foreach_addcdiv_(tensors.parameters, moments.first, denominators, -step.lr / correction1);
}

void Adam::apply_multi_tensor_torch_2_0(const UpdateTensors& tensors, const Moments& moments,
                                        const UpdateStep& step) {
  const double correction1 = 1.0 - std::pow(options_.beta1, step.number);
  const double correction2 = std::sqrt(1.0 - std::pow(options_.beta2, step.number));
  const std::vector<at::Tensor> gradients = decay_weights(tensors, step.lr);
  at::_foreach_mul_(moments.first, options_.beta1);
  at::_foreach_add_(moments.first, gradients, 1.0 - options_.beta1);
  at::_foreach_mul_(moments.second, options_.beta2);
  at::_foreach_addcmul_(moments.second, gradients, gradients, 1.0 - options_.beta2);
  const std::vector<at::Tensor> roots = at::_foreach_sqrt(moments.second);
  at::_foreach_div_(roots, correction2);
  // Out of place: this is the second temporary.
  const std::vector<at::Tensor> denominators = at::_foreach_add(roots, options_.eps);
  at::_foreach_addcdiv_(tensors.parameters, moments.first, denominators, -step.lr / correction1);
}

void Adam::apply_fused(const UpdateTensors& tensors, const Moments& moments,
                       const UpdateStep& step) {
  if (!steps_done_.defined()) {
    const at::Tensor scalar = at::zeros({}, tensors.parameters.front().options().dtype(at::kFloat));
    steps_done_ = make_state_(scalar);
    steps_skipped_ = make_state_(scalar);
  }
  steps_done_.fill_(step.number).sub_(steps_skipped_);
  const std::vector<at::Tensor> steps(tensors.parameters.size(), steps_done_);
  const auto found_inf = step.found_inf.defined() ? std::optional(step.found_inf) : std::nullopt;
  const auto update = [&](auto kernel) {
    kernel(tensors.parameters, tensors.gradients, moments.first, moments.second,
           /*max_exp_avg_sqs=*/at::TensorList(), steps, step.lr, options_.beta1, options_.beta2,
           options_.weight_decay, options_.eps, /*amsgrad=*/false, /*maximize=*/false,
           /*grad_scale=*/std::nullopt, found_inf);
  };
  if (decoupled_decay_) {
    update([](auto&&... arguments) { at::_fused_adamw_(arguments...); });
  } else {
    update([](auto&&... arguments) { at::_fused_adam_(arguments...); });
  }
  if (found_inf) steps_skipped_.add_(found_inf->squeeze());
}

std::vector<at::Tensor> Adam::counters() const {
  if (!steps_done_.defined()) return {};
  return {steps_done_, steps_skipped_};
}

template <bool decoupled_decay>
std::unique_ptr<UpdateRule> make_adam(const OptimizerOptions& options, StateFactory make_state) {
  return std::make_unique<Adam>(options, decoupled_decay, std::move(make_state));
}

std::vector<StateTensor> two_moments(const OptimizerOptions&, const at::Tensor& parameter) {
  return {2, {parameter.sizes().vec(), parameter.scalar_type()}};
}

constexpr Implementation kAdamImplementations[] = {
    Implementation::per_tensor, Implementation::multi_tensor, Implementation::fused,
    Implementation::multi_tensor_torch_2_0};

}  // namespace

extern constinit const OptimizerEntry kAdam{
    .name = "adam",
    .summary = "Adam; weight decay is added to the gradient",
    .implementations = kAdamImplementations,
    .make = &make_adam<false>,
    .state = &two_moments,
};

extern constinit const OptimizerEntry kAdamW{
    .name = "adamw",
    .summary = "AdamW; weight decay shrinks the weights",
    .implementations = kAdamImplementations,
    .make = &make_adam<true>,
    .state = &two_moments,
};

}  // namespace headroom
