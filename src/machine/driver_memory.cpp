// SPDX-License-Identifier: Apache-2.0
#include "src/machine/driver_memory.h"

#include "src/machine/nvml.h"

namespace headroom {
namespace {

struct NvmlMemory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

}  // namespace

std::optional<std::int64_t> driver_memory_bytes(c10::Device device) {
  const auto gpu = NvmlDevice::find(device);
  NvmlMemory memory{};
  if (!gpu || !gpu->ask("nvmlDeviceGetMemoryInfo", &memory)) return std::nullopt;
  return static_cast<std::int64_t>(memory.used);
}

}  // namespace headroom
