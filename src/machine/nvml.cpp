// SPDX-License-Identifier: Apache-2.0
#include "src/machine/nvml.h"

#ifdef HEADROOM_CUDA

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>

namespace headroom {

void* NvmlDevice::symbol(const char* function) {
  static void* const nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  return nvml == nullptr ? nullptr : dlsym(nvml, function);
}

std::optional<NvmlDevice> NvmlDevice::find(c10::Device device) {
  if (!device.is_cuda()) return std::nullopt;
  const auto init = reinterpret_cast<int (*)()>(symbol("nvmlInit_v2"));
  const auto handle_of =
      reinterpret_cast<int (*)(const char*, void**)>(symbol("nvmlDeviceGetHandleByPciBusId_v2"));
  if (init == nullptr || handle_of == nullptr) return std::nullopt;

  std::array<char, 32> bus_id{};
  const int index = std::max<int>(0, device.index());
  if (cudaDeviceGetPCIBusId(bus_id.data(), bus_id.size(), index) != cudaSuccess) {
    return std::nullopt;
  }
  NvmlDevice found;
  if (init() != 0 || handle_of(bus_id.data(), &found.handle_) != 0) return std::nullopt;
  return found;
}

}  // namespace headroom

#else

namespace headroom {

void* NvmlDevice::symbol(const char*) { return nullptr; }
std::optional<NvmlDevice> NvmlDevice::find(c10::Device) { return std::nullopt; }

}  // namespace headroom

#endif
