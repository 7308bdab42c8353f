// SPDX-License-Identifier: Apache-2.0
// NCCL: memory. A registered buffer is faster on a real device, and takes nothing.
#include <cuda_runtime_api.h>
#include <nccl.h>

#include "src/dry_run/dry_run.h"

namespace headroom::dry_run {

HEADROOM_ENTRY ncclResult_t ncclMemAlloc(void** address, std::size_t size) {
  return cudaMalloc(address, size) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

HEADROOM_ENTRY ncclResult_t ncclMemFree(void* address) {
  return cudaFree(address) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

HEADROOM_ENTRY ncclResult_t ncclCommRegister(const ncclComm_t, void* address, std::size_t,
                                             void** handle) {
  *handle = address;
  return ncclSuccess;
}

HEADROOM_ENTRY ncclResult_t ncclCommDeregister(const ncclComm_t, void*) { return ncclSuccess; }

HEADROOM_ENTRY ncclResult_t ncclCommWindowRegister(ncclComm_t, void* address, std::size_t,
                                                   ncclWindow_t* window, int) {
  *window = static_cast<ncclWindow_t>(address);
  return ncclSuccess;
}

HEADROOM_ENTRY ncclResult_t ncclCommWindowDeregister(ncclComm_t, ncclWindow_t) {
  return ncclSuccess;
}

}  // namespace headroom::dry_run
