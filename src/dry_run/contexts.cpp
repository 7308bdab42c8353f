// SPDX-License-Identifier: Apache-2.0
// libcuda: contexts, of devices and of parts of their multiprocessors (green contexts). What a
// green context takes of the device's memory no document says: nothing is counted.
#include "src/dry_run/contexts.h"

#include <algorithm>
#include <array>
#include <vector>

#include "src/dry_run/dry_report.h"
#include "src/dry_run/dry_run.h"

namespace headroom::dry_run {
namespace {

/// Each device has one, its primary context: an address by which it is known.
std::array<char, kMaxDryDevices> contexts;

/// What stands for a part of a device: where it lies. Nothing depends on how large it is.
struct GreenContext {
  int device;
};

/// Those that this thread pushed; empty: the primary context of its device is current.
thread_local std::vector<CUcontext> pushed_contexts;

int device_of(CUcontext context) {
  const auto* address = reinterpret_cast<const char*>(context);
  const bool is_primary = address >= contexts.begin() && address < contexts.end();
  if (is_primary) return static_cast<int>(address - contexts.data());
  return reinterpret_cast<const GreenContext*>(context)->device;
}

CUdevResource resource_of(unsigned multiprocessors) {
  CUdevResource resource{};
  resource.type = CU_DEV_RESOURCE_TYPE_SM;
  resource.sm.smCount = multiprocessors;
  return resource;
}

/// Parts are multiples of it (CUDA Driver API, "Green Contexts"; from 8.0 on parts have 4 or more).
unsigned smallest_part() { return dry_run().gpu.capability.major >= 9 ? 8 : 2; }

}  // namespace

CUcontext primary_context(int device) {
  return reinterpret_cast<CUcontext>(&contexts.at(static_cast<std::size_t>(device)));
}

HEADROOM_ENTRY CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  if (!dry_run().has(device)) return CUDA_ERROR_INVALID_DEVICE;
  *flags = 0;
  *active = dry_run().devices[static_cast<std::size_t>(device)].memory.used() > 0 ? 1 : 0;
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuDevicePrimaryCtxRetain(CUcontext* result, CUdevice device) {
  if (!dry_run().has(device)) return CUDA_ERROR_INVALID_DEVICE;
  *result = primary_context(device);
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuCtxGetCurrent(CUcontext* result) {
  *result = pushed_contexts.empty() ? primary_context(current_device()) : pushed_contexts.back();
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuCtxSetCurrent(CUcontext context) {
  if (context == nullptr) return CUDA_SUCCESS;
  pushed_contexts.clear();
  const int device = device_of(context);
  if (context != primary_context(device)) pushed_contexts.push_back(context);
  set_current_device(device);
  return CUDA_SUCCESS;
}

// Programs look these two up by the names that cuda.h has replaced.
#undef cuCtxPushCurrent
#undef cuCtxPopCurrent

HEADROOM_ENTRY CUresult cuCtxPushCurrent(CUcontext context) {
  pushed_contexts.push_back(context);
  set_current_device(device_of(context));
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuCtxPopCurrent(CUcontext* context) {
  if (pushed_contexts.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  *context = pushed_contexts.back();
  pushed_contexts.pop_back();
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuDeviceGetDevResource(CUdevice device, CUdevResource* resource,
                                               CUdevResourceType type) {
  if (!dry_run().has(device)) return CUDA_ERROR_INVALID_DEVICE;
  if (type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
  *resource = resource_of(static_cast<unsigned>(dry_run().gpu.multiprocessors));
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuDevSmResourceSplitByCount(CUdevResource* parts, unsigned* count,
                                                    const CUdevResource* whole, CUdevResource* rest,
                                                    unsigned, unsigned least) {
  const unsigned step = smallest_part();
  const unsigned each = std::max(1U, (least + step - 1) / step) * step;
  const unsigned most = whole->sm.smCount / each;
  *count = parts == nullptr ? most : std::min(*count, most);
  if (parts != nullptr) std::fill_n(parts, *count, resource_of(each));
  if (rest != nullptr) *rest = resource_of(whole->sm.smCount - *count * each);
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuDevResourceGenerateDesc(CUdevResourceDesc* descriptor, CUdevResource*,
                                                  unsigned) {
  static char any;
  *descriptor = reinterpret_cast<CUdevResourceDesc>(&any);
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuGreenCtxCreate(CUgreenCtx* green, CUdevResourceDesc, CUdevice device,
                                         unsigned) {
  if (!dry_run().has(device)) return CUDA_ERROR_INVALID_DEVICE;
  *green = reinterpret_cast<CUgreenCtx>(new GreenContext{device});
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuGreenCtxDestroy(CUgreenCtx green) {
  delete reinterpret_cast<GreenContext*>(green);
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuCtxFromGreenCtx(CUcontext* context, CUgreenCtx green) {
  *context = reinterpret_cast<CUcontext>(green);
  return CUDA_SUCCESS;
}

/// What runs there takes no longer than on the whole device: times stay lower bounds.
HEADROOM_ENTRY CUresult cuGreenCtxStreamCreate(CUstream* stream, CUgreenCtx, unsigned flags,
                                               int priority) {
  cudaStreamCreateWithPriority(stream, flags, priority);
  return CUDA_SUCCESS;
}

}  // namespace headroom::dry_run
