// SPDX-License-Identifier: Apache-2.0
// libcuda: memory and events that processes share, by the driver's functions. They are cudart's by
// other names.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <bit>

#include "src/dry_run/dry_run.h"

namespace headroom::dry_run {

HEADROOM_ENTRY CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr address) {
  return static_cast<CUresult>(cudaIpcGetMemHandle(reinterpret_cast<cudaIpcMemHandle_t*>(handle),
                                                   reinterpret_cast<void*>(address)));
}

HEADROOM_ENTRY CUresult cuIpcOpenMemHandle(CUdeviceptr* address, CUipcMemHandle handle,
                                           unsigned flags) {
  return static_cast<CUresult>(cudaIpcOpenMemHandle(
      reinterpret_cast<void**>(address), std::bit_cast<cudaIpcMemHandle_t>(handle), flags));
}

HEADROOM_ENTRY CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
  return static_cast<CUresult>(cudaIpcCloseMemHandle(reinterpret_cast<void*>(address)));
}

HEADROOM_ENTRY CUresult cuIpcGetEventHandle(CUipcEventHandle* handle, CUevent event) {
  return static_cast<CUresult>(
      cudaIpcGetEventHandle(reinterpret_cast<cudaIpcEventHandle_t*>(handle), event));
}

HEADROOM_ENTRY CUresult cuIpcOpenEventHandle(CUevent* event, CUipcEventHandle handle) {
  return static_cast<CUresult>(
      cudaIpcOpenEventHandle(event, std::bit_cast<cudaIpcEventHandle_t>(handle)));
}

}  // namespace headroom::dry_run
