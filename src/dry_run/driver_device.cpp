// SPDX-License-Identifier: Apache-2.0
// libcuda: what the driver says of the GPUs.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdio>

#include "src/dry_run/dry_run.h"

namespace headroom::dry_run {
namespace {

/// Of the device as cudart describes it, a part. `read` is given the properties.
template <class Read>
CUresult ask(CUdevice device, Read read) {
  cudaDeviceProp properties;
  if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  read(properties);
  return CUDA_SUCCESS;
}

}  // namespace

HEADROOM_ENTRY CUresult cuDeviceGetCount(int* count) {
  *count = static_cast<int>(dry_run().devices.size());
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuDeviceGet(CUdevice* device, int index) {
  *device = index;
  return dry_run().has(index) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

HEADROOM_ENTRY CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute,
                                             CUdevice device) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
      *value = 1;
      return CUDA_SUCCESS;
    default:  // the two lists of attributes share their numbers
      cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device);
      return CUDA_SUCCESS;
  }
}

HEADROOM_ENTRY CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  return ask(device, [&](const cudaDeviceProp& properties) {
    std::snprintf(name, static_cast<std::size_t>(length), "%s", properties.name);
  });
}

HEADROOM_ENTRY CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  return ask(device, [&](const cudaDeviceProp& properties) { *uuid = properties.uuid; });
}

HEADROOM_ENTRY CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice device) {
  return ask(device, [&](const cudaDeviceProp& properties) { *bytes = properties.totalGlobalMem; });
}

HEADROOM_ENTRY CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice device) {
  return static_cast<CUresult>(cudaDeviceGetPCIBusId(text, length, device));
}

HEADROOM_ENTRY CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return static_cast<CUresult>(cudaDeviceCanAccessPeer(can, device, peer));
}

HEADROOM_ENTRY CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return dry_run().has(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

HEADROOM_ENTRY CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned) {
  return cuDevicePrimaryCtxRelease(device);
}

}  // namespace headroom::dry_run
