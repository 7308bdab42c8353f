// SPDX-License-Identifier: Apache-2.0
#include <ATen/core/grad_mode.h>

#include "src/memory/copy_stream.h"
#include "src/memory/host_pool.h"
#include "src/optimizers/optimizer.h"

// An optimizer on the host, after ZeRO-Offload (Ren et al. 2021, arXiv:2101.06840): the host keeps
// the state and its own copy of the parameters; a step copies the gradients there, updates the copy
// with the fused CPU kernel, and copies the parameters back.
//
// Copies go through a stream of their own, tensor by tensor: while the host updates one, the next
// gradients are on their way in and the last parameters on their way out.
namespace headroom {
namespace {

OptimizerOptions fused(OptimizerOptions options) {
  options.implementation = Implementation::fused;
  return options;
}

at::Tensor zeroed_host_buffer(const at::Tensor& like) { return host_buffer_like(like).zero_(); }

class HostOptimizer final : public Optimizer {
 public:
  HostOptimizer(const OptimizerOptions& options, std::vector<at::Tensor> parameters, bool computes)
      : Optimizer(fused(options), std::move(parameters)),
        computes_(computes),
        was_updated_(this->parameters().size()),
        rule_(make_update_rule(this->options(), this->parameters().size(), zeroed_host_buffer)) {
    const at::NoGradGuard no_grad;
    for (const at::Tensor& parameter : this->parameters()) {
      copies_.push_back(host_buffer_like(parameter));
      copies_.back().copy_(parameter);
      gradients_.push_back(host_buffer_like(parameter));
    }
  }

  void update(std::span<const std::size_t> indices, const at::Tensor& found_inf) override {
    TORCH_CHECK(!found_inf.defined(), "the host can't skip by a flag that lies on the device");
    const at::NoGradGuard no_grad;
    const UpdateTensors device = gather(indices);
    CopyStream stream(parameters().front().device());
    std::vector<CopyStream::Mark> arrivals;
    for (std::size_t i = 0; i < device.indices.size(); ++i) {
      arrivals.push_back(stream.copy(gradients_[device.indices[i]], device.gradients[i]));
    }
    for (std::size_t i = 0; i < device.indices.size(); ++i) {
      const std::size_t index = device.indices[i];
      stream.wait(arrivals[i]);
      const UpdateTensors host{{copies_[index]}, {gradients_[index]}, {index}};
      if (computes_ || !was_updated_[index]) {
        rule_->apply(host, {options().lr_at(step()), step(), /*found_inf=*/{}});
      }
      was_updated_[index] = true;
      stream.copy(device.parameters[i], copies_[index]);
      copied_bytes_ += 2 * static_cast<std::int64_t>(copies_[index].nbytes());
    }
    stream.join();
  }

  std::vector<at::Tensor> device_state() const override { return {}; }
  std::vector<at::Tensor> host_state() const override { return rule_->state(); }
  std::int64_t copied_bytes() const override { return copied_bytes_; }

 private:
  bool computes_;  // also what nobody reads
  std::vector<bool> was_updated_;
  std::unique_ptr<UpdateRule> rule_;
  std::vector<at::Tensor> copies_;     // of the parameters
  std::vector<at::Tensor> gradients_;  // where the device's gradients arrive
  std::int64_t copied_bytes_ = 0;
};

/// The host's fused kernels update the parameters where they lie.
class OptimizerOfHostParameters final : public Optimizer {
 public:
  OptimizerOfHostParameters(const OptimizerOptions& options, std::vector<at::Tensor> parameters)
      : Optimizer(fused(options), std::move(parameters)),
        rule_(make_update_rule(this->options(), this->parameters().size(), zeroed_host_buffer)) {}

  void update(std::span<const std::size_t> indices, const at::Tensor& found_inf) override {
    const at::NoGradGuard no_grad;
    const UpdateTensors tensors = gather(indices);
    if (!tensors.parameters.empty()) {
      rule_->apply(tensors, {options().lr_at(step()), step(), found_inf});
    }
  }

  std::vector<at::Tensor> device_state() const override { return {}; }
  std::vector<at::Tensor> host_state() const override { return rule_->state(); }

 private:
  std::unique_ptr<UpdateRule> rule_;
};

}  // namespace

std::unique_ptr<Optimizer> make_optimizer_of_host_parameters(const OptimizerOptions& options,
                                                             std::vector<at::Tensor> parameters) {
  return std::make_unique<OptimizerOfHostParameters>(options, std::move(parameters));
}

std::unique_ptr<Optimizer> make_host_optimizer(const OptimizerOptions& options,
                                               std::vector<at::Tensor> parameters) {
  return std::make_unique<HostOptimizer>(options, std::move(parameters), /*computes=*/true);
}

std::unique_ptr<Optimizer> make_planned_host_optimizer(const OptimizerOptions& options,
                                                       std::vector<at::Tensor> parameters) {
  return std::make_unique<HostOptimizer>(options, std::move(parameters), /*computes=*/false);
}

}  // namespace headroom
