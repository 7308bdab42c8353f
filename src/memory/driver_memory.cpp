// SPDX-License-Identifier: Apache-2.0
#include "src/memory/driver_memory.h"

#ifdef HEADROOM_CUDA

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>

namespace headroom {
namespace {

// NVML's interface, as its manual gives it; no wheel of CUDA's carries the header.
struct NvmlMemory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
using NvmlInit = int (*)();
using NvmlHandleByBusId = int (*)(const char*, void**);
using NvmlMemoryInfo = int (*)(void*, NvmlMemory*);

template <class F>
F symbol(void* library, const char* name) {
  return reinterpret_cast<F>(dlsym(library, name));
}

}  // namespace

std::optional<std::int64_t> driver_memory_bytes(c10::Device device) {
  if (!device.is_cuda()) return std::nullopt;
  static void* const nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (nvml == nullptr) return std::nullopt;
  const auto init = symbol<NvmlInit>(nvml, "nvmlInit_v2");
  const auto handle_of = symbol<NvmlHandleByBusId>(nvml, "nvmlDeviceGetHandleByPciBusId_v2");
  const auto memory_of = symbol<NvmlMemoryInfo>(nvml, "nvmlDeviceGetMemoryInfo");
  if (init == nullptr || handle_of == nullptr || memory_of == nullptr) return std::nullopt;

  std::array<char, 32> bus_id{};
  const int index = std::max<int>(0, device.index());
  if (cudaDeviceGetPCIBusId(bus_id.data(), bus_id.size(), index) != cudaSuccess)
    return std::nullopt;
  void* handle = nullptr;
  NvmlMemory memory{};
  if (init() != 0 || handle_of(bus_id.data(), &handle) != 0 || memory_of(handle, &memory) != 0) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(memory.used);
}

}  // namespace headroom

#else

namespace headroom {

std::optional<std::int64_t> driver_memory_bytes(c10::Device) { return std::nullopt; }

}  // namespace headroom

#endif
