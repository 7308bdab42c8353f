// SPDX-License-Identifier: Apache-2.0
#include "src/machine/gpu_condition.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "src/machine/processes.h"

#ifdef HEADROOM_CUDA
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#endif

namespace headroom {
namespace {

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

#ifdef HEADROOM_CUDA

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

#else

void* NvmlDevice::symbol(const char*) { return nullptr; }
std::optional<NvmlDevice> NvmlDevice::find(c10::Device) { return std::nullopt; }

#endif

constexpr int kSmClock = 1;           // NVML_CLOCK_SM
constexpr int kTemperatureOfGpu = 0;  // NVML_TEMPERATURE_GPU
constexpr unsigned kMaxProcesses = 256;

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
  std::array<NvmlProcess, kMaxProcesses> list{};
  unsigned count = kMaxProcesses;
  if (!gpu.ask("nvmlDeviceGetComputeRunningProcesses", &count, list.data())) return std::nullopt;
  if (count == 0) return std::nullopt;  // this process is there, so NVML does not show any
  if (alone) return count - 1;
  const std::span<const NvmlProcess> shown(list.data(), count);
  const auto is_me = [](const NvmlProcess& process) { return process.pid == unsigned(getpid()); };
  if (std::ranges::none_of(shown, is_me)) return std::nullopt;  // numbers of another namespace
  return std::ranges::count_if(shown, [](const NvmlProcess& process) {
    return !runs_this_program(static_cast<pid_t>(process.pid));
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

constexpr int kGpuUtilisationSamples = 1;  // NVML_GPU_UTILIZATION_SAMPLES

/// nvmlSample_t. Utilisation is an unsigned int of its union.
struct NvmlSample {
  unsigned long long time_us;
  union {
    unsigned number;
    unsigned long long whole;
  } value;
};

/// The samples of utilisation after `newest_before`; none where NVML does not tell.
std::vector<NvmlSample> utilisation_samples(c10::Device device, std::uint64_t newest_before) {
  const auto gpu = NvmlDevice::find(device);
  int type = 0;
  unsigned count = 0;
  const auto ask = [&](NvmlSample* samples) {
    return gpu->ask("nvmlDeviceGetSamples", kGpuUtilisationSamples,
                    static_cast<unsigned long long>(newest_before), &type, &count, samples);
  };
  if (!gpu || !ask(nullptr)) return {};  // how many it keeps
  std::vector<NvmlSample> samples(count);
  if (!ask(samples.data())) return {};
  samples.resize(std::min<std::size_t>(samples.size(), count));
  return samples;
}

struct NvmlMemory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

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

GpuUtilisation::GpuUtilisation(c10::Device device) : device_(device), newest_before_(0) {
  for (const NvmlSample& sample : utilisation_samples(device, 0)) {
    newest_before_ = std::max<std::uint64_t>(newest_before_, sample.time_us);
  }
}

std::optional<double> GpuUtilisation::percent() const {
  const auto samples = utilisation_samples(device_, newest_before_);
  if (samples.empty()) return std::nullopt;
  double sum = 0;
  for (const NvmlSample& sample : samples) sum += sample.value.number;
  return sum / static_cast<double>(samples.size());
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

std::optional<std::int64_t> driver_memory_bytes(c10::Device device) {
  const auto gpu = NvmlDevice::find(device);
  NvmlMemory memory{};
  if (!gpu || !gpu->ask("nvmlDeviceGetMemoryInfo", &memory)) return std::nullopt;
  return static_cast<std::int64_t>(memory.used);
}

}  // namespace headroom
