// SPDX-License-Identifier: Apache-2.0
// Loaded into the worker before LibTorch, it makes a training worse in the way that HEADROOM_SEED
// names: what comparison and gate have to find.
#include <ATen/ATen.h>
#include <dlfcn.h>
#include <torch/csrc/autograd/variable.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace {

bool seeded(std::string_view seed) {
  const char* const named = std::getenv("HEADROOM_SEED");
  return named != nullptr && named == seed;
}

/// LibTorch's own function of the name that `ours` has.
template <typename Function>
Function* original(Function* ours) {
  Dl_info info{};
  dladdr(reinterpret_cast<void*>(ours), &info);
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, info.dli_sname));
}

/// Blocks have two norms each, called in their order from the first step on; this is the first of
/// the second block.
bool is_in_block_1(const at::Tensor& weight) {
  static std::map<const void*, std::size_t> norms;
  return norms.try_emplace(weight.unsafeGetTensorImpl(), norms.size()).first->second == 2;
}

void grow(const at::Tensor& input) {
  static std::vector<at::Tensor> copies;
  if (seeded("live_tensor")) copies.clear();
  if (seeded("live_tensor") || seeded("leak")) copies.push_back(input.detach().clone());
}

}  // namespace

at::Tensor at::_ops::layer_norm::call(const at::Tensor& input, c10::SymIntArrayRef shape,
                                      const ::std::optional<at::Tensor>& weight,
                                      const ::std::optional<at::Tensor>& bias, double eps,
                                      bool cudnn_enable) {
  static const auto libtorchs = original(&at::_ops::layer_norm::call);
  if (seeded("crash")) ::std::abort();
  if (seeded("no_host_memory")) throw ::std::bad_alloc();
  if (is_in_block_1(*weight)) grow(input);
  return libtorchs(input, shape, weight, bias, eps, cudnn_enable);
}

void torch::autograd::impl::set_post_acc_grad_hooks(const at::TensorBase& tensor,
                                                    std::unique_ptr<PostAccumulateGradHook> hook) {
  static const auto libtorchs = original(&torch::autograd::impl::set_post_acc_grad_hooks);
  if (!seeded("no_hooks")) libtorchs(tensor, std::move(hook));
}
