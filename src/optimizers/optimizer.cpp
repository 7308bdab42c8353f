// SPDX-License-Identifier: Apache-2.0
#include "src/optimizers/optimizer.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "src/memory/host_memory.h"

namespace headroom {
namespace {

/// Updates the parameters where they lie, and keeps the state there.
class InPlaceOptimizer final : public Optimizer {
 public:
  enum class Place { device, host };

  InPlaceOptimizer(const OptimizerOptions& options, std::vector<at::Tensor> parameters, Place place,
                   StateFactory make_state, PlannedUpdate planned)
      : Optimizer(options, std::move(parameters)),
        place_(place),
        rule_(options, this->parameters().size(), std::move(make_state), std::move(planned)) {}

  void update(std::span<const std::size_t> indices, const at::Tensor& found_inf) override {
    const at::NoGradGuard no_grad;
    rule_.apply(gather(indices), {options().lr_at(step()), step(), found_inf});
  }

  std::vector<at::Tensor> device_state() const override { return state_at(Place::device); }
  std::vector<at::Tensor> host_state() const override { return state_at(Place::host); }

 private:
  std::vector<at::Tensor> state_at(Place place) const {
    return place == place_ ? rule_.state() : std::vector<at::Tensor>();
  }

  Place place_;
  RuleWithState rule_;
};

at::Tensor zeros_on_device(const at::Tensor& like) {
  return at::zeros(like.sizes(), like.options());
}

}  // namespace

RuleWithState::RuleWithState(const OptimizerOptions& options, std::size_t count,
                             StateFactory make_state, PlannedUpdate planned)
    : entry_(find_optimizer(options.name)),
      options_(options),
      make_state_(std::move(make_state)),
      rule_(entry_.make(options, make_state_)),
      planned_(std::move(planned)),
      was_updated_(count),
      state_(count) {}

void RuleWithState::apply(UpdateTensors tensors, const UpdateStep& step) {
  if (planned_) {
    plan(tensors, step);
  } else {
    compute(std::move(tensors), step);
  }
}

void RuleWithState::plan(const UpdateTensors& tensors, const UpdateStep& step) {
  UpdateTensors first;
  for (std::size_t i = 0; i < tensors.indices.size(); ++i) {
    if (was_updated_[tensors.indices[i]]) continue;
    first.parameters.push_back(tensors.parameters[i]);
    first.gradients.push_back(tensors.gradients[i]);
    first.indices.push_back(tensors.indices[i]);
  }
  compute(std::move(first), step);
  std::size_t bytes = 0;  // gradients are read, the others read and written
  for (std::size_t i = 0; i < tensors.indices.size(); ++i) {
    bytes += tensors.gradients[i].nbytes() + 2 * tensors.parameters[i].nbytes();
    for (const at::Tensor& state : state_[tensors.indices[i]]) bytes += 2 * state.nbytes();
  }
  planned_(static_cast<std::int64_t>(bytes));
}

void RuleWithState::compute(UpdateTensors tensors, const UpdateStep& step) {
  if (tensors.indices.empty()) return;
  add_state(tensors);
  rule_->apply(tensors, step);
}

void RuleWithState::add_state(UpdateTensors& tensors) {
  for (std::size_t i = 0; i < tensors.indices.size(); ++i) {
    const at::Tensor& parameter = tensors.parameters[i];
    std::vector<at::Tensor>& own = state_[tensors.indices[i]];
    if (!was_updated_[tensors.indices[i]]) {
      was_updated_[tensors.indices[i]] = true;
      for (const StateTensor& wanted : entry_.state(options_, parameter)) {
        const bool is_alike =
            parameter.sizes().equals(wanted.shape) && parameter.scalar_type() == wanted.dtype;
        // One number, expanded: only shape and dtype are read of it.
        own.push_back(make_state_(
            is_alike
                ? parameter
                : at::empty({}, parameter.options().dtype(wanted.dtype)).expand(wanted.shape)));
      }
    }
    const std::size_t most = std::max(tensors.state.size(), own.size());
    tensors.state.resize(most, std::vector<at::Tensor>(i));
    for (std::size_t k = 0; k < most; ++k) {
      tensors.state[k].push_back(k < own.size() ? own[k] : at::Tensor());
    }
  }
}

std::vector<at::Tensor> RuleWithState::state() const {
  std::vector<at::Tensor> all = rule_->counters();
  for (const std::vector<at::Tensor>& own : state_) all.insert(all.end(), own.begin(), own.end());
  return all;
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
  return std::make_unique<InPlaceOptimizer>(options, std::move(parameters),
                                            InPlaceOptimizer::Place::device, zeros_on_device,
                                            PlannedUpdate());
}

std::unique_ptr<Optimizer> make_optimizer_of_host_parameters(OptimizerOptions options,
                                                             std::vector<at::Tensor> parameters,
                                                             PlannedUpdate planned) {
  options.implementation = Implementation::fused;
  const auto make_state = [](const at::Tensor& like) { return host_buffer_like(like).zero_(); };
  return std::make_unique<InPlaceOptimizer>(options, std::move(parameters),
                                            InPlaceOptimizer::Place::host, make_state,
                                            std::move(planned));
}

}  // namespace headroom
