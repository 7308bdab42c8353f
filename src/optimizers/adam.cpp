// SPDX-License-Identifier: Apache-2.0
#include "src/optimizers/adam.h"

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

#include <algorithm>
#include <cmath>

namespace headroom {

Adam::Adam(const OptimizerOptions& options, std::size_t count, StateFactory make_state)
    : options_(options),
      make_state_(std::move(make_state)),
      decoupled_decay_(options.name == "adamw"),
      first_(count),
      second_(count) {}

Adam::Moments Adam::moments_of(const UpdateTensors& tensors) {
  Moments moments;
  for (std::size_t i = 0; i < tensors.indices.size(); ++i) {
    const std::size_t index = tensors.indices[i];
    if (!first_[index].defined()) {
      first_[index] = make_state_(tensors.parameters[i]);
      second_[index] = make_state_(tensors.parameters[i]);
    }
    moments.first.push_back(first_[index]);
    moments.second.push_back(second_[index]);
  }
  return moments;
}

void Adam::apply(const UpdateTensors& tensors, const UpdateStep& step) {
  Moments moments = moments_of(tensors);
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

void Adam::apply_per_tensor(const UpdateTensors& tensors, Moments& moments,
                            const UpdateStep& step) {
  const double correction1 = 1.0 - std::pow(options_.beta1, step.number);
  const double correction2 = std::sqrt(1.0 - std::pow(options_.beta2, step.number));
  const double decay = options_.weight_decay;
  for (std::size_t i = 0; i < tensors.parameters.size(); ++i) {
    at::Tensor parameter = tensors.parameters[i];
    at::Tensor gradient = tensors.gradients[i];
    if (decay != 0.0 && decoupled_decay_) parameter.mul_(1.0 - step.lr * decay);
    if (decay != 0.0 && !decoupled_decay_) gradient = gradient.add(parameter, decay);
    moments.first[i].lerp_(gradient, 1.0 - options_.beta1);
    moments.second[i].mul_(options_.beta2).addcmul_(gradient, gradient, 1.0 - options_.beta2);
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

void Adam::apply_multi_tensor(const UpdateTensors& tensors, Moments& moments,
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

void Adam::apply_multi_tensor_torch_2_0(const UpdateTensors& tensors, Moments& moments,
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

void Adam::apply_fused(const UpdateTensors& tensors, Moments& moments, const UpdateStep& step) {
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

std::vector<at::Tensor> Adam::state() const {
  std::vector<at::Tensor> all;
  const auto add = [&all](const at::Tensor& tensor) {
    if (tensor.defined()) all.push_back(tensor);
  };
  std::ranges::for_each(first_, add);
  std::ranges::for_each(second_, add);
  add(steps_done_);
  add(steps_skipped_);
  return all;
}

}  // namespace headroom
