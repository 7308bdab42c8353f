// SPDX-License-Identifier: Apache-2.0
#include "src/optimizers/optimizer.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros_like.h>

#include <numeric>

#include "src/optimizers/adam.h"
#include "src/optimizers/sgd.h"

namespace headroom {
namespace {

class DeviceOptimizer final : public Optimizer {
 public:
  DeviceOptimizer(const OptimizerOptions& options, std::vector<at::Tensor> parameters)
      : Optimizer(options, std::move(parameters)),
        rule_(make_update_rule(options, this->parameters().size(),
                               [](const at::Tensor& like) { return at::zeros_like(like); })) {}

  void update(std::span<const std::size_t> indices, const at::Tensor& found_inf) override {
    const at::NoGradGuard no_grad;
    const UpdateTensors tensors = gather(indices);
    if (!tensors.parameters.empty()) {
      rule_->apply(tensors, {options().lr_at(step()), step(), found_inf});
    }
  }

  std::vector<at::Tensor> device_state() const override { return rule_->state(); }

 private:
  std::unique_ptr<UpdateRule> rule_;
};

}  // namespace

std::unique_ptr<UpdateRule> make_update_rule(const OptimizerOptions& options, std::size_t count,
                                             StateFactory make_state) {
  if (options.name == "sgd") return std::make_unique<Sgd>(options, count, std::move(make_state));
  return std::make_unique<Adam>(options, count, std::move(make_state));
}

void Optimizer::update_all(const at::Tensor& found_inf) {
  std::vector<std::size_t> all(parameters_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  update(all, found_inf);
}

UpdateTensors Optimizer::gather(std::span<const std::size_t> indices) const {
  UpdateTensors tensors;
  for (const std::size_t index : indices) {
    const at::Tensor& gradient = parameters_[index].grad();
    if (!gradient.defined()) continue;
    tensors.parameters.push_back(parameters_[index]);
    tensors.gradients.push_back(gradient.to(parameters_[index].scalar_type()));
    tensors.indices.push_back(index);
  }
  return tensors;
}

std::unique_ptr<Optimizer> make_device_optimizer(const OptimizerOptions& options,
                                                 std::vector<at::Tensor> parameters) {
  return std::make_unique<DeviceOptimizer>(options, std::move(parameters));
}

}  // namespace headroom
