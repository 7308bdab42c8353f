// SPDX-License-Identifier: Apache-2.0
// libnvidia-ml, as a library of its own, since programs open it by its name: the machine's devices
// and what this process uses of them. No wheel of CUDA's carries NVML's header; these follow
// NVIDIA's "NVML API Reference". It finds the dry run through the driver's entry points.
#include <cuda_runtime_api.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "src/dry_run/dry_run.h"
#include "src/dry_run/visible_devices.h"

namespace {

using Device = struct DeviceOfNvml*;  // its number in the machine, and 1

constexpr int kSuccess = 0;
constexpr int kInvalidArgument = 2;
constexpr int kNotSupported = 3;
constexpr int kNotFound = 6;
constexpr int kInsufficientSize = 7;

struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

struct Process {
  unsigned pid;
  unsigned long long used;
};

/// nvmlPciInfo_t.
struct PciInfo {
  char short_id[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned device_id;
  unsigned subsystem_id;
  char id[32];
};

int find_device(long number, Device* device) {
  if (number < 0 || number >= headroom_dry_run_devices()) return kNotFound;
  *device = reinterpret_cast<Device>(number + 1);
  return kSuccess;
}

int number_of(Device device) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(device)) - 1;
}

}  // namespace

HEADROOM_ENTRY int nvmlInit() { return kSuccess; }
HEADROOM_ENTRY int nvmlInit_v2() { return kSuccess; }
HEADROOM_ENTRY int nvmlInitWithFlags(unsigned) { return kSuccess; }
HEADROOM_ENTRY int nvmlShutdown() { return kSuccess; }

HEADROOM_ENTRY const char* nvmlErrorString(int error) {
  return error == kSuccess ? "Success" : "Not Found";
}

HEADROOM_ENTRY int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = CUDART_VERSION;
  return kSuccess;
}

HEADROOM_ENTRY int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(headroom_dry_run_devices());
  return kSuccess;
}

HEADROOM_ENTRY int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
  return find_device(static_cast<long>(index), device) == kSuccess ? kSuccess : kInvalidArgument;
}

/// "0000:02:00.0": the bus is the device's number, as cudart tells it.
HEADROOM_ENTRY int nvmlDeviceGetHandleByPciBusId_v2(const char* text, Device* device) {
  const std::string_view id(text);
  const std::size_t bus = id.find(':');
  if (bus == std::string_view::npos) return kInvalidArgument;
  return find_device(std::strtol(text + bus + 1, nullptr, 16), device);
}

HEADROOM_ENTRY int nvmlDeviceGetPciInfo_v3(Device device, PciInfo* info) {
  *info = {};
  info->bus = static_cast<unsigned>(number_of(device));
  std::snprintf(info->short_id, sizeof(info->short_id), "0000:%02X:00.0", info->bus);
  std::snprintf(info->id, sizeof(info->id), "00000000:%02X:00.0", info->bus);
  return kSuccess;
}

HEADROOM_ENTRY int nvmlDeviceGetHandleByUUID(const char* text, Device* device) {
  for (int number = 0; number < headroom_dry_run_devices(); ++number) {
    if (headroom::dry_run::device_uuid_text(number) == text) return find_device(number, device);
  }
  return kNotFound;
}

HEADROOM_ENTRY int nvmlDeviceGetIndex(Device device, unsigned* index) {
  *index = static_cast<unsigned>(number_of(device));
  return kSuccess;
}

HEADROOM_ENTRY int nvmlDeviceGetName(Device, char* text, unsigned size) {
  std::snprintf(text, size, "%s", headroom_dry_run_product());
  return kSuccess;
}

HEADROOM_ENTRY int nvmlDeviceGetUUID(Device device, char* text, unsigned size) {
  std::snprintf(text, size, "%s", headroom::dry_run::device_uuid_text(number_of(device)).c_str());
  return kSuccess;
}

HEADROOM_ENTRY int nvmlDeviceGetMemoryInfo(Device device, Memory* memory) {
  std::size_t used = 0;
  std::size_t total = 0;
  headroom_dry_run_memory(number_of(device), &used, &total);
  *memory = {total, used < total ? total - used : 0, used};
  return kSuccess;
}

// Which links there are between devices is not told.

HEADROOM_ENTRY int nvmlDeviceGetNvLinkState(Device, unsigned, unsigned*) { return kNotSupported; }

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
HEADROOM_ENTRY int nvmlDeviceGetComputeRunningProcesses(Device device, unsigned* count,
                                                        Process* processes) {
  if (*count == 0) return kInsufficientSize;
  std::size_t used = 0;
  std::size_t total = 0;
  headroom_dry_run_memory(number_of(device), &used, &total);
  *count = 1;
  *processes = {static_cast<unsigned>(getpid()), used};
  return kSuccess;
}
