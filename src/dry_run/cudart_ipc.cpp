// SPDX-License-Identifier: Apache-2.0
// cudart: memory and events that processes share (CUDA IPC). Who opens memory gets addresses for it
// and takes none: it is counted where it was allocated. What stands in it is not known there.
#include <cuda_runtime_api.h>
#include <unistd.h>

#include <cstring>

#include "src/dry_run/dry_run.h"

namespace headroom::dry_run {
namespace {

/// What a handle says of memory. CUDA's has 64 bytes, and says what it likes.
struct SharedMemory {
  std::int64_t process;
  std::int64_t bytes;
};
static_assert(sizeof(SharedMemory) <= sizeof(cudaIpcMemHandle_t));

}  // namespace

HEADROOM_ENTRY cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* address) {
  const Device* owner = dry_run().owner(address);
  const auto allocation = owner == nullptr ? std::nullopt : owner->memory.allocation_of(address);
  if (!allocation) return fail(cudaErrorInvalidValue);
  const SharedMemory shared{getpid(), allocation->bytes};
  *handle = {};
  std::memcpy(handle, &shared, sizeof(shared));
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaIpcOpenMemHandle(void** address, cudaIpcMemHandle_t handle,
                                                unsigned) {
  SharedMemory shared{};
  std::memcpy(&shared, &handle, sizeof(shared));
  // A process can't open its own (CUDA Runtime API, cudaIpcOpenMemHandle).
  if (shared.process == getpid()) return fail(cudaErrorDeviceUninitialized);
  *address = device_with_context().memory.reserve_addresses(shared.bytes);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaIpcCloseMemHandle(void*) { return cudaSuccess; }

HEADROOM_ENTRY cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t) {
  *handle = {};
  return cudaSuccess;
}

/// What other processes launch is not followed: it is over.
HEADROOM_ENTRY cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t) {
  return cudaEventCreate(event);
}

}  // namespace headroom::dry_run
