// SPDX-License-Identifier: Apache-2.0
#include "src/gpus/gpu.h"

namespace headroom::dry_run {
namespace {

/// Ada's tensor cores were the first.
bool has_float8(const Gpu& gpu) {
  return gpu.capability.major > 8 || (gpu.capability.major == 8 && gpu.capability.minor == 9);
}

}  // namespace

std::vector<std::string> gpu_names() {
  std::vector<std::string> names;
  for (const Gpu& gpu : gpu_table()) names.emplace_back(gpu.name);
  return names;
}

bool multiplies_for_groups_of_warps(const Gpu& gpu) {
  return gpu.capability.major == 9 || gpu.capability.major == 10;
}

bool waits_for_tensor_cores(const Gpu& gpu) {
  constexpr double kHalfRate = 512;  // operations a cycle and multiprocessor; others have 1,024
  return gpu.float16_flops < 1.1 * kHalfRate * gpu.multiprocessors * clock_rate(gpu);
}

int lanes(const Gpu& gpu) {
  const Capability& capability = gpu.capability;
  return capability.major < 8 || (capability.major == 8 && capability.minor < 6) ? 64 : 128;
}

double clock_rate(const Gpu& gpu) {
  return gpu.float32_flops / (2.0 * lanes(gpu) * gpu.multiprocessors);
}

double peak_flops(const Gpu& gpu, Precision precision) {
  double flops = 0;
  switch (precision) {
    case Precision::float64:
      return gpu.float64_flops;
    case Precision::float32:
      return gpu.float32_flops;
    case Precision::tensorfloat32:
      flops = gpu.tensorfloat32_flops;
      break;
    case Precision::float16:
      flops = gpu.float16_flops;
      break;
    case Precision::bfloat16:
      flops = gpu.bfloat16_flops;
      break;
    case Precision::float8:
      flops = has_float8(gpu) ? 2 * gpu.bfloat16_flops : gpu.float16_flops;
      break;
  }
  return flops > 0 ? flops : gpu.float32_flops;
}

}  // namespace headroom::dry_run
