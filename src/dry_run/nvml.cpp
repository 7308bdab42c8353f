// SPDX-License-Identifier: Apache-2.0
// libnvidia-ml, as a library of its own, since programs open it by its name: the device and what is
// in use there. No wheel of CUDA's carries NVML's header; these follow NVIDIA's "NVML API
// Reference". It finds the dry run through the driver's entry points.
#include <cuda_runtime_api.h>
#include <unistd.h>

#include <cstdio>

#include "src/dry_run/dry_run.h"

namespace {

using Device = void*;

constexpr int kSuccess = 0;
constexpr int kNotSupported = 3;
constexpr int kNotFound = 6;
constexpr int kInsufficientSize = 7;
int the_device;

struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

struct Process {
  unsigned pid;
  unsigned long long used;
};

}  // namespace

HEADROOM_ENTRY int nvmlInit_v2() { return kSuccess; }
HEADROOM_ENTRY int nvmlShutdown() { return kSuccess; }

HEADROOM_ENTRY const char* nvmlErrorString(int error) {
  return error == kSuccess ? "Success" : "Not Found";
}

HEADROOM_ENTRY int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = CUDART_VERSION;
  return kSuccess;
}

HEADROOM_ENTRY int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 1;
  return kSuccess;
}

HEADROOM_ENTRY int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
  *device = &the_device;
  return index == 0 ? kSuccess : kNotFound;
}

HEADROOM_ENTRY int nvmlDeviceGetHandleByPciBusId_v2(const char*, Device* device) {
  *device = &the_device;
  return kSuccess;
}

HEADROOM_ENTRY int nvmlDeviceGetHandleByUUID(const char*, Device* device) {
  *device = &the_device;
  return kSuccess;
}

HEADROOM_ENTRY int nvmlDeviceGetUUID(Device, char* text, unsigned size) {
  std::snprintf(text, size, "GPU-00000000-0000-0000-0000-000000000000");
  return kSuccess;
}

HEADROOM_ENTRY int nvmlDeviceGetMemoryInfo(Device, Memory* memory) {
  std::size_t used = 0;
  std::size_t total = 0;
  headroom_dry_run_memory(&used, &total);
  *memory = {total, used < total ? total - used : 0, used};
  return kSuccess;
}

// There is no link to another device.

HEADROOM_ENTRY int nvmlDeviceGetNvLinkRemoteDeviceType(Device, unsigned, unsigned*) {
  return kNotSupported;
}

HEADROOM_ENTRY int nvmlDeviceGetNvLinkRemotePciInfo_v2(Device, unsigned, void*) {
  return kNotSupported;
}

// Nothing runs: there is no clock, no heat and nothing that could slow it.

HEADROOM_ENTRY int nvmlDeviceGetClockInfo(Device, int, unsigned*) { return kNotSupported; }
HEADROOM_ENTRY int nvmlDeviceGetTemperature(Device, int, unsigned*) { return kNotSupported; }
HEADROOM_ENTRY int nvmlDeviceGetCurrentClocksThrottleReasons(Device, unsigned long long*) {
  return kNotSupported;
}

/// This process is alone on the device.
HEADROOM_ENTRY int nvmlDeviceGetComputeRunningProcesses(Device, unsigned* count,
                                                        Process* processes) {
  if (*count == 0) return kInsufficientSize;
  std::size_t used = 0;
  std::size_t total = 0;
  headroom_dry_run_memory(&used, &total);
  *count = 1;
  *processes = {static_cast<unsigned>(getpid()), used};
  return kSuccess;
}
