// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <optional>

namespace headroom {

/// Bytes in use on the GPU as the driver counts them, contexts and other processes included, by
/// NVML, which is loaded when first asked. Empty for a CPU and where there is no NVML.
std::optional<std::int64_t> driver_memory_bytes(c10::Device device);

}  // namespace headroom
