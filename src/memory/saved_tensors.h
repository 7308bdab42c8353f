// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/saved_variable_hooks.h>

#include <functional>
#include <memory>

// What autograd keeps for backward, and who may change that. LibTorch asks its engine for hooks
// whenever a tensor is saved; Python answers through libtorch_python, C++ programs have no public
// way to. Ours is an engine that answers from a stack of scopes, the newest first.
namespace headroom {

/// Makes the hooks for one saved tensor.
class SavedTensorHooks {
 public:
  virtual ~SavedTensorHooks() = default;
  virtual std::unique_ptr<torch::autograd::SavedVariableHooks> make() = 0;
};

/// Installs the engine. To be called once, at program start, before the first backward: autograd
/// binds its device threads to the first engine that runs.
void install_saved_tensor_hooks();

/// While it lives, tensors that this thread saves for backward go through `hooks`.
class SavedTensorScope {
 public:
  explicit SavedTensorScope(SavedTensorHooks& hooks);
  ~SavedTensorScope();
  SavedTensorScope(const SavedTensorScope&) = delete;
  SavedTensorScope& operator=(const SavedTensorScope&) = delete;
};

/// While it lives, `observer` sees every tensor that any thread keeps for backward on its device.
class SavedTensorObserver {
 public:
  explicit SavedTensorObserver(std::function<void(const at::Tensor&)> observer);
  ~SavedTensorObserver();
  SavedTensorObserver(const SavedTensorObserver&) = delete;
  SavedTensorObserver& operator=(const SavedTensorObserver&) = delete;
};

/// Tells the observer, if there is one, of a tensor that hooks keep for backward themselves.
void note_saved(const at::Tensor& tensor);

}  // namespace headroom
