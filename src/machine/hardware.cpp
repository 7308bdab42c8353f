// SPDX-License-Identifier: Apache-2.0
#include "src/machine/hardware.h"

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <torch/version.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "src/core/hidden_gpus.h"
#include "src/core/hidden_tiles.h"
#include "src/machine/nvidia_driver.h"
#include "src/machine/processes.h"

#ifdef HEADROOM_CUDA
#include <c10/cuda/CUDAFunctions.h>
#include <cuda_runtime_api.h>
#endif

namespace headroom {
namespace {

/// What the first processor has under `key` in /proc/cpuinfo; empty: nothing.
std::string cpuinfo(std::string_view key) {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with(key) && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}

std::string cpu_name() {
  const std::string name = cpuinfo("model name");
  return name.empty() ? "unknown" : name;
}

bool has_flag(std::string_view flags, std::string_view flag) {
  return (" " + std::string(flags) + " ").find(" " + std::string(flag) + " ") != std::string::npos;
}

}  // namespace

std::optional<std::string> products_by_flags(std::string_view flags, std::string_view dtype) {
  if (flags.empty()) return std::nullopt;
  const std::string_view name = dtype == "bfloat16" ? "bf16" : "fp16";
  for (const char* unit : {"avx512_", "amx_"}) {
    if (has_flag(flags, std::string(unit).append(name))) return "native";
  }
  return "emulated";
}

std::optional<std::string> cpu_products(c10::Device device, std::string_view dtype) {
  return device.is_cpu() ? products_by_flags(cpuinfo("flags"), dtype) : std::nullopt;
}

std::string libtorch_version() { return TORCH_VERSION; }

#ifdef HEADROOM_CUDA

namespace {

/// CUDA's integers say 13000 for 13.0.
std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::optional<cudaDeviceProp> properties(c10::Device device) {
  cudaDeviceProp found{};
  if (!device.is_cuda()) return std::nullopt;
  if (cudaGetDeviceProperties(&found, std::max<int>(0, device.index())) != cudaSuccess) {
    return std::nullopt;
  }
  return found;
}

}  // namespace

bool cuda_built() { return true; }
std::optional<std::string> cuda_version() { return version_text(CUDART_VERSION); }

std::string device_name(c10::Device device) {
  const auto found = properties(device);
  return found ? found->name : cpu_name();
}

std::optional<std::string> driver_version(c10::Device device) {
  int version = 0;
  if (!device.is_cuda() || cudaDriverGetVersion(&version) != cudaSuccess) return std::nullopt;
  return version_text(version);
}

std::optional<std::string> gpu_uuid(c10::Device device) {
  const auto found = properties(device);
  if (!found) return std::nullopt;
  const auto& bytes = found->uuid.bytes;  // all zero: a device that is only planned for
  if (std::all_of(std::begin(bytes), std::end(bytes), [](char b) { return b == 0; })) {
    return std::nullopt;
  }
  std::string text = "GPU-";
  for (std::size_t i = 0; i < sizeof(found->uuid.bytes); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    std::array<char, 3> byte{};
    std::snprintf(byte.data(), byte.size(), "%02x",
                  static_cast<unsigned char>(found->uuid.bytes[i]));
    text += byte.data();
  }
  return text;
}

std::optional<std::int64_t> gpu_memory_bytes(c10::Device device) {
  const auto found = properties(device);
  return found ? std::optional(static_cast<std::int64_t>(found->totalGlobalMem)) : std::nullopt;
}

#else

bool cuda_built() { return false; }
std::optional<std::string> cuda_version() { return std::nullopt; }
std::string device_name(c10::Device) { return cpu_name(); }
std::optional<std::string> driver_version(c10::Device) { return std::nullopt; }
std::optional<std::string> gpu_uuid(c10::Device) { return std::nullopt; }
std::optional<std::int64_t> gpu_memory_bytes(c10::Device) { return std::nullopt; }

#endif

#ifdef HEADROOM_CUDA

namespace {

/// Why GPUs that are there can't be used; nothing: there are none, or they are hidden on purpose.
std::optional<std::string> why_unusable(cudaError_t error) {
  const auto driver = nvidia_driver();
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (!driver || (visible != nullptr && hides_gpus(visible))) return std::nullopt;
  int served = 0;
  cudaDriverGetVersion(&served);
  return "there is a GPU with NVIDIA's driver " + *driver +
         (served > 0 ? ", which serves CUDA " + version_text(served) : "") + ", and CUDA " +
         *cuda_version() + " can't use it (" + cudaGetErrorString(error) + ")";
}

}  // namespace

#endif

nlohmann::ordered_json describe_hardware() {
  nlohmann::ordered_json result{
      {"libtorch", libtorch_version()},
      {"cpu", cpu_name()},
      {"threads", at::get_num_threads()},
      {"available_host_bytes", available_host_bytes().value_or(0)},
      {"cuda_built", cuda_built()},
      {"gpus", nlohmann::ordered_json::array()},
  };
  if (hides_tiles()) {
    const char* set = std::getenv("ONEDNN_MAX_CPU_ISA");
    result["unusable_tiles"] =
        "the processor shows AMX but not its tiles, with which oneDNN's 16-bit products end by "
        "SIGILL; ONEDNN_MAX_CPU_ISA is " +
        std::string(set == nullptr ? "not set" : set);
  }
#ifdef HEADROOM_CUDA
  result["cuda"] = *cuda_version();
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) result["no_gpu_because"] = cudaGetErrorString(error);
  const auto unusable = count == 0 ? why_unusable(error) : std::nullopt;
  if (unusable) result["unusable_gpu"] = *unusable;
  for (int i = 0; error == cudaSuccess && i < count; ++i) {
    const c10::Device device(c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(i));
    result["gpus"].push_back({{"name", device_name(device)},
                              {"uuid", gpu_uuid(device).value_or("")},
                              {"memory_bytes", gpu_memory_bytes(device).value_or(0)},
                              {"driver", driver_version(device).value_or("")}});
  }
#endif
  return result;
}

}  // namespace headroom
