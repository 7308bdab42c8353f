// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>

#include <optional>

namespace headroom {

/// A GPU as NVIDIA's management library knows it. The library is loaded when first asked; its
/// interface is as its manual gives it, since no wheel of CUDA's carries the header.
class NvmlDevice {
 public:
  /// Nothing: for a CPU, and where there is no NVML.
  static std::optional<NvmlDevice> find(c10::Device device);

  /// Calls one of NVML's functions on this GPU. False: this NVML lacks it, or it failed.
  template <class... Arguments>
  bool ask(const char* function, Arguments... arguments) const {
    const auto call = reinterpret_cast<int (*)(void*, Arguments...)>(symbol(function));
    return call != nullptr && call(handle_, arguments...) == 0;
  }

 private:
  static void* symbol(const char* function);

  void* handle_ = nullptr;
};

}  // namespace headroom
