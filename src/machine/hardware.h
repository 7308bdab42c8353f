// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace headroom {

std::string libtorch_version();
bool cuda_built();
/// The CUDA that LibTorch was built with, "13.0"; empty where it has none.
std::optional<std::string> cuda_version();

/// The processor's or the GPU's own name.
std::string device_name(c10::Device device);
/// Empty for a CPU.
std::optional<std::string> driver_version(c10::Device device);
std::optional<std::string> gpu_uuid(c10::Device device);
std::optional<std::int64_t> gpu_memory_bytes(c10::Device device);

/// How oneDNN computes a product of "bfloat16" or "float16" on the CPU: "native", with the
/// processor's instructions for it, or "emulated", which took 2 to 100 times an fp32 product where
/// it was measured. Empty for another device and for a processor that is no x86.
std::optional<std::string> cpu_products(c10::Device device, std::string_view dtype);
/// The same by the flags that /proc/cpuinfo lists; empty where it lists none.
std::optional<std::string> products_by_flags(std::string_view flags, std::string_view dtype);

/// What `headroom doctor` asks a worker: versions, threads, memory, the GPUs there are and, where
/// there is none, why.
nlohmann::ordered_json describe_hardware();

}  // namespace headroom
