// SPDX-License-Identifier: Apache-2.0
#include "src/machine/gpu_condition.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>

#include "src/machine/nvml.h"
#include "src/machine/same_program.h"

namespace headroom {
namespace {

constexpr int kSmClock = 1;           // NVML_CLOCK_SM
constexpr int kTemperatureOfGpu = 0;  // NVML_TEMPERATURE_GPU
constexpr unsigned kMostProcesses = 256;

struct NvmlProcess {
  unsigned pid;
  unsigned long long used_bytes;
};

// nvmlClocksThrottleReason..., from the lowest bit.
constexpr std::array<const char*, 9> kThrottleReasons = {
    "gpu_idle",      "applications_clocks", "sw_power_cap",        "hw_slowdown",
    "sync_boost",    "sw_thermal_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown",
    "display_clocks"};

std::optional<std::int64_t> other_processes(const NvmlDevice& gpu, bool alone) {
  std::array<NvmlProcess, kMostProcesses> list{};
  unsigned count = kMostProcesses;
  if (!gpu.ask("nvmlDeviceGetComputeRunningProcesses", &count, list.data())) return std::nullopt;
  if (count == 0) return std::nullopt;  // this process is there, so NVML does not show any
  if (alone) return count - 1;
  const std::span<const NvmlProcess> shown(list.data(), count);
  const auto is_me = [](const NvmlProcess& one) { return one.pid == unsigned(getpid()); };
  if (std::ranges::none_of(shown, is_me)) return std::nullopt;  // numbers of another namespace
  return std::ranges::count_if(shown, [](const NvmlProcess& one) {
    return !runs_this_program(static_cast<pid_t>(one.pid));
  });
}

/// What a function gives in one integer, behind its other arguments.
template <class... Arguments>
std::optional<std::int64_t> number(const NvmlDevice& gpu, const char* function,
                                   Arguments... arguments) {
  unsigned value = 0;
  if (!gpu.ask(function, arguments..., &value)) return std::nullopt;
  return value;
}

}  // namespace

GpuCondition read_gpu_condition(c10::Device device, bool alone) {
  const auto gpu = NvmlDevice::find(device);
  if (!gpu) return {};
  GpuCondition result{
      .other_processes = other_processes(*gpu, alone),
      .throttle_bits = std::nullopt,
      .clock_mhz = number(*gpu, "nvmlDeviceGetClockInfo", kSmClock),
      .temperature_c = number(*gpu, "nvmlDeviceGetTemperature", kTemperatureOfGpu),
  };
  unsigned long long bits = 0;
  if (gpu->ask("nvmlDeviceGetCurrentClocksThrottleReasons", &bits)) result.throttle_bits = bits;
  return result;
}

std::string throttle_reasons(std::uint64_t throttle_bits) {
  std::string names;
  const auto add = [&](const std::string& name) { names += (names.empty() ? "" : "+") + name; };
  for (const char* reason : kThrottleReasons) {
    if (throttle_bits % 2 == 1) add(reason);
    throttle_bits /= 2;
  }
  if (throttle_bits != 0) add("other");  // newer than this list
  return names.empty() ? "none" : names;
}

}  // namespace headroom
