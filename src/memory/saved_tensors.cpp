// SPDX-License-Identifier: Apache-2.0
#include "src/memory/saved_tensors.h"

#include <torch/csrc/autograd/engine.h>

#include <utility>
#include <vector>

namespace headroom {
namespace {

thread_local std::vector<SavedTensorHooks*> scopes;

// Set and cleared while no other thread runs autograd.
std::function<void(const at::Tensor&)> observe;

/// Keeps the tensor as autograd would, and tells the observer. Without its graph: an output that
/// kept that would keep itself alive.
class ObservingHooks final : public torch::autograd::SavedVariableHooks {
 public:
  void call_pack_hook(const at::Tensor& tensor) override {
    note_saved(tensor);
    kept_ = tensor.tensor_data();  // detach() of fewer words: no dispatch, no view
  }
  at::Tensor call_unpack_hook() override { return kept_; }

 private:
  at::Tensor kept_;
};

class HookingEngine final : public torch::autograd::Engine {
 public:
  ~HookingEngine() override { stop(); }
  std::unique_ptr<torch::autograd::SavedVariableHooks> get_default_saved_variable_hooks() override {
    if (!scopes.empty()) return scopes.back()->make();
    if (observe) return std::make_unique<ObservingHooks>();
    return nullptr;
  }
};

}  // namespace

void install_saved_tensor_hooks() {
  torch::autograd::set_default_engine_stub(+[]() -> torch::autograd::Engine& {
    static auto* engine = new HookingEngine;  // lives as long as autograd's own threads
    return *engine;
  });
}

SavedTensorScope::SavedTensorScope(SavedTensorHooks& hooks) { scopes.push_back(&hooks); }
SavedTensorScope::~SavedTensorScope() { scopes.pop_back(); }

SavedTensorObserver::SavedTensorObserver(std::function<void(const at::Tensor&)> observer) {
  observe = std::move(observer);
}
SavedTensorObserver::~SavedTensorObserver() { observe = nullptr; }

void note_saved(const at::Tensor& tensor) {
  if (observe) observe(tensor);
}

}  // namespace headroom
