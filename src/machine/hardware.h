// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

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

/// What `headroom doctor` asks a worker: versions, threads, memory, the GPUs there are and, where
/// there is none, why.
nlohmann::ordered_json describe_hardware();

}  // namespace headroom
