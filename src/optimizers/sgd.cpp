// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_fused_sgd.h>

#include "src/optimizers/update_rule.h"

namespace headroom {
namespace {

/// PyTorch 2.11's fused kernel for CPUs takes 16-bit momentum for float32, reads past its end, and
/// leaves most 16-bit parameters as they are (pytorch issue 191763, mended in August 2026).
bool has_sound_fused_kernel(const at::Tensor& parameter) {
  return !parameter.is_cpu() || !at::isReducedFloatingType(parameter.scalar_type());
}

/// Stochastic gradient descent. No state, or with momentum one buffer of the parameter's shape and
/// dtype: P * dtype bytes. Operations and temporaries are those of torch.optim.SGD in PyTorch 2.11.
class Sgd final : public UpdateRule {
 public:
  explicit Sgd(const OptimizerOptions& options) : options_(options) {}
  void apply(const UpdateTensors& tensors, const UpdateStep& step) override;

 private:
  void apply_per_tensor(const UpdateTensors& tensors, const UpdateStep& step);
  void apply_multi_tensor(const UpdateTensors& tensors, const UpdateStep& step);
  void apply_fused(const UpdateTensors& tensors, const UpdateStep& step);

  OptimizerOptions options_;
};

void Sgd::apply(const UpdateTensors& tensors, const UpdateStep& step) {
  switch (options_.implementation) {
    case Implementation::per_tensor:
      return apply_per_tensor(tensors, step);
    case Implementation::multi_tensor:
    case Implementation::multi_tensor_torch_2_0:  // the same operations then
      return apply_multi_tensor(tensors, step);
    case Implementation::fused:
      return apply_fused(tensors, step);
  }
}

/// The momentum buffers of the tensors; none without momentum. A new buffer is 0, so that momentum
/// * 0 + gradient makes it the gradient, as PyTorch's first step does by a copy.
std::vector<at::Tensor> momentum_of(const UpdateTensors& tensors) {
  return tensors.state.empty() ? std::vector<at::Tensor>() : tensors.state[0];
}

void Sgd::apply_per_tensor(const UpdateTensors& tensors, const UpdateStep& step) {
  const std::vector<at::Tensor> buffers = momentum_of(tensors);
  for (std::size_t i = 0; i < tensors.parameters.size(); ++i) {
    at::Tensor parameter = tensors.parameters[i];
    at::Tensor gradient = tensors.gradients[i];
    if (options_.weight_decay != 0.0) gradient = gradient.add(parameter, options_.weight_decay);
    if (!buffers.empty()) gradient = at::Tensor(buffers[i]).mul_(options_.momentum).add_(gradient);
    parameter.add_(gradient, -step.lr);
  }
}

void Sgd::apply_multi_tensor(const UpdateTensors& tensors, const UpdateStep& step) {
  std::vector<at::Tensor> gradients = tensors.gradients;
  if (options_.weight_decay != 0.0) {
    gradients = at::_foreach_add(gradients, tensors.parameters, options_.weight_decay);
  }
  const std::vector<at::Tensor> buffers = momentum_of(tensors);
  if (!buffers.empty()) {
    at::_foreach_mul_(buffers, options_.momentum);
    at::_foreach_add_(buffers, gradients);
    gradients = buffers;
  }
  at::_foreach_add_(tensors.parameters, gradients, -step.lr);
}

void Sgd::apply_fused(const UpdateTensors& tensors, const UpdateStep& step) {
  if (!tensors.parameters.empty() && !has_sound_fused_kernel(tensors.parameters.front())) {
    TORCH_CHECK(!step.found_inf.defined(), "no sound kernel that skips by a flag");
    return apply_per_tensor(tensors, step);
  }
  const std::vector<at::Tensor> buffers = momentum_of(tensors);
  at::_fused_sgd_(tensors.parameters, tensors.gradients, buffers, options_.weight_decay,
                  options_.momentum, step.lr, /*dampening=*/0.0, /*nesterov=*/false,
                  /*maximize=*/false,
                  /*is_first_step=*/false, /*grad_scale=*/{},
                  step.found_inf.defined() ? std::optional(step.found_inf) : std::nullopt);
}

std::unique_ptr<UpdateRule> make_sgd(const OptimizerOptions& options, StateFactory) {
  return std::make_unique<Sgd>(options);
}

std::vector<StateTensor> momentum_buffer(const OptimizerOptions& options,
                                         const at::Tensor& parameter) {
  if (options.momentum == 0.0) return {};
  return {{parameter.sizes().vec(), parameter.scalar_type()}};
}

constexpr Implementation kSgdImplementations[] = {
    Implementation::per_tensor, Implementation::multi_tensor, Implementation::fused,
    Implementation::multi_tensor_torch_2_0};

}  // namespace

extern constinit const OptimizerEntry kSgdOptimizer{
    .name = "sgd",
    .summary = "stochastic gradient descent, with momentum or without",
    .implementations = kSgdImplementations,
    .make = &make_sgd,
    .state = &momentum_buffer,
};

}  // namespace headroom
