// SPDX-License-Identifier: Apache-2.0
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>

#include <memory>
#include <span>
#include <utility>

#include "src/memory/host_memory.h"
#include "src/memory/saved_tensors.h"
#include "src/memory/streams.h"
#include "techniques/large_activation.h"
#include "techniques/technique.h"

namespace headroom {
namespace {

class Offload final : public SavedTensorHooks {
 public:
  /// The parameters are the model's; both references outlive it.
  Offload(at::Device device, std::span<const Parameter> parameters, Evidence& evidence)
      : stream_(device), parameters_(parameters), evidence_(evidence) {}

  std::unique_ptr<torch::autograd::SavedVariableHooks> make() override {
    return std::make_unique<Hooks>(*this);
  }

 private:
  class Hooks final : public torch::autograd::SavedVariableHooks {
   public:
    explicit Hooks(Offload& offload) : offload_(offload) {}

    void call_pack_hook(const at::Tensor& tensor) override {
      if (!is_large_activation(tensor, offload_.parameters_)) {
        note_saved(tensor);
        kept_ = tensor.detach();
        return;
      }
      const at::NoGradGuard no_grad;
      device_ = tensor.device();
      host_ = host_buffer_like(tensor);
      arrived_ = offload_.stream_.copy(host_, tensor.detach());
      offload_.evidence_.offloaded_bytes += static_cast<std::int64_t>(host_.nbytes());
    }

    at::Tensor call_unpack_hook() override {
      if (kept_.defined()) return kept_;
      const at::NoGradGuard no_grad;
      offload_.stream_.wait(arrived_);
      at::Tensor fetched = at::empty_like(host_, host_.options().device(device_));
      fetched.copy_(host_, /*non_blocking=*/true);
      note_saved(fetched);
      offload_.evidence_.fetched_bytes += static_cast<std::int64_t>(host_.nbytes());
      return fetched;
    }

   private:
    Offload& offload_;
    at::Tensor kept_;  // what stays on the device
    at::Tensor host_;
    at::Device device_ = at::kCPU;
    CopyStream::Mark arrived_;
  };

  CopyStream stream_;
  std::span<const Parameter> parameters_;
  Evidence& evidence_;
};

/// What blocks save for backward is copied to host memory, on a stream of its own, and fetched when
/// backward asks for it. Parameters and tensors below 16 KiB stay.
class ActivationOffload final : public Technique {
 public:
  void wrap_model(Step& step, const Recipe& recipe) const override;
  std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const override;
};

void ActivationOffload::wrap_model(Step& step, const Recipe& recipe) const {
  const auto offload =
      std::make_shared<Offload>(recipe.device, step.model.parameters(), step.evidence);
  for (Block& block : step.model.blocks()) {
    block.run = [offload, inner = std::move(block.run)](const at::Tensor& x) {
      const SavedTensorScope scope(*offload);
      return inner(x);
    };
  }
}

std::string ActivationOffload::why_inactive(const Evidence& evidence, const Recipe&) const {
  if (evidence.offloaded_bytes > 0 && evidence.fetched_bytes > 0) return {};
  return std::to_string(evidence.offloaded_bytes) + " bytes went to the host and " +
         std::to_string(evidence.fetched_bytes) + " came back";
}

}  // namespace

extern constinit const TechniqueEntry kActivationOffload{
    .name = "activation_offload",
    .summary = "what blocks save for backward waits in host memory",
    .saves = "all saved tensors of the blocks but one block's",
    .costs = "those bytes over the host link, twice a step",
    .source = "torch.autograd.graph.save_on_cpu; torchtune's activation offloading",
    .make = &make_technique<ActivationOffload>,
    .fit_cost = {.host_link = 2},
};

}  // namespace headroom
