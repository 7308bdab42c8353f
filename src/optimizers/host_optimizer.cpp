// SPDX-License-Identifier: Apache-2.0
#include <ATen/core/grad_mode.h>

#include "src/memory/host_memory.h"
#include "src/memory/streams.h"
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
  HostOptimizer(const OptimizerOptions& options, std::vector<at::Tensor> parameters,
                PlannedUpdate planned)
      : Optimizer(fused(options), std::move(parameters)),
        rule_(this->options(), this->parameters().size(), zeroed_host_buffer, std::move(planned)) {
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
      rule_.apply({{copies_[index]}, {gradients_[index]}, {index}},
                  {options().lr_at(step()), step(), /*found_inf=*/{}});
      stream.copy(device.parameters[i], copies_[index]);
      copied_bytes_ += 2 * static_cast<std::int64_t>(copies_[index].nbytes());
    }
    stream.join();
  }

  std::vector<at::Tensor> device_state() const override { return {}; }
  std::vector<at::Tensor> host_state() const override { return rule_.state(); }
  std::int64_t copied_bytes() const override { return copied_bytes_; }

 private:
  RuleWithState rule_;
  std::vector<at::Tensor> copies_;     // of the parameters
  std::vector<at::Tensor> gradients_;  // where the device's gradients arrive
  std::int64_t copied_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Optimizer> make_host_optimizer(const OptimizerOptions& options,
                                               std::vector<at::Tensor> parameters,
                                               PlannedUpdate planned) {
  return std::make_unique<HostOptimizer>(options, std::move(parameters), std::move(planned));
}

}  // namespace headroom
