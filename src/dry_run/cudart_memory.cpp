// SPDX-License-Identifier: Apache-2.0
// cudart: memory of the device, pinned memory of the host, copies.
#include <cuda_runtime_api.h>

#include <cstring>

#include "src/dry_run/cudart_error.h"
#include "src/dry_run/dry_run.h"

using namespace headroom::dry_run;

namespace {

/// Counts a copy and gives the host its bytes: what comes from the device is zeros. Returns how
/// long it takes.
std::int64_t copy(void* to, const void* from, std::size_t size) {
  DryRun& device = dry_run_with_context();
  const auto bytes = static_cast<std::int64_t>(size);
  const bool to_device = device.memory.owns(to);
  const bool from_device = device.memory.owns(from);
  if (to_device && from_device) return memory_ns(device.gpu, 2 * bytes);
  if (to_device) {
    device.counters.to_device_bytes += bytes;
  } else if (from_device) {
    device.counters.to_host_bytes += bytes;
    std::memset(to, 0, size);
  } else {
    std::memcpy(to, from, size);
  }
  return host_copy_ns(device.gpu, bytes);
}

/// A copy into memory that is not pinned is over when the call returns (CUDA Runtime API, "API
/// synchronization behavior").
bool blocks_host(const void* to) {
  const DryRun& device = dry_run();
  return !device.memory.owns(to) && !device.pinned.owns(to);
}

}  // namespace

HEADROOM_ENTRY cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  const GpuMemory& memory = dry_run_with_context().memory;
  *total = static_cast<std::size_t>(memory.total());
  // Beyond the memory (overcommit) nothing is free.
  *free = memory.used() < memory.total() ? *total - static_cast<std::size_t>(memory.used()) : 0;
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaMalloc(void** address, std::size_t size) {
  *address = dry_run_with_context().memory.allocate(static_cast<std::int64_t>(size));
  return *address == nullptr ? fail(cudaErrorMemoryAllocation) : cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaFree(void* address) {
  DryRun& device = dry_run_with_context();
  if (address == nullptr) return cudaSuccess;
  device.timeline.synchronize_device();  // cudaFree waits for all work that may use the memory
  return device.memory.release(address) ? cudaSuccess : fail(cudaErrorInvalidValue);
}

HEADROOM_ENTRY cudaError_t cudaHostAlloc(void** address, std::size_t size, unsigned) {
  *address = dry_run_with_context().pinned.allocate(static_cast<std::int64_t>(size));
  return *address == nullptr ? fail(cudaErrorMemoryAllocation) : cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaFreeHost(void* address) {
  dry_run().pinned.release(address);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaHostRegister(void* address, std::size_t size, unsigned) {
  dry_run_with_context().pinned.pin(address, static_cast<std::int64_t>(size));
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaHostUnregister(void* address) {
  dry_run().pinned.unpin(address);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes,
                                                    const void* pointer) {
  const DryRun& device = dry_run();
  void* address = const_cast<void*>(pointer);
  *attributes = {};
  attributes->type = cudaMemoryTypeUnregistered;
  if (device.memory.owns(pointer)) {
    attributes->type = cudaMemoryTypeDevice;
    attributes->devicePointer = address;
  } else if (device.pinned.owns(pointer)) {
    attributes->type = cudaMemoryTypeHost;
    attributes->devicePointer = address;
    attributes->hostPointer = address;
  }
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaMemcpy(void* to, const void* from, std::size_t size,
                                      cudaMemcpyKind) {
  Timeline& timeline = dry_run().timeline;
  timeline.run(/*stream=*/nullptr, copy(to, from, size));
  timeline.synchronize(cudaStream_t{});
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t size,
                                           cudaMemcpyKind, cudaStream_t stream) {
  Timeline& timeline = dry_run().timeline;
  timeline.run(stream, copy(to, from, size));
  if (blocks_host(to)) timeline.synchronize(stream);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                                             std::size_t from_pitch, std::size_t width,
                                             std::size_t height, cudaMemcpyKind,
                                             cudaStream_t stream) {
  Timeline& timeline = dry_run().timeline;
  for (std::size_t row = 0; row < height; ++row) {
    const std::int64_t ns = copy(static_cast<char*>(to) + row * to_pitch,
                                 static_cast<const char*>(from) + row * from_pitch, width);
    timeline.run(stream, ns);
  }
  if (blocks_host(to)) timeline.synchronize(stream);
  return cudaSuccess;
}

// A symbol is a variable of the device: nothing lies behind it either.
HEADROOM_ENTRY cudaError_t cudaMemcpyToSymbol(const void*, const void*, std::size_t, std::size_t,
                                              cudaMemcpyKind) {
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  *address = const_cast<void*>(symbol);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaMemset(void* address, int value, std::size_t size) {
  return cudaMemsetAsync(address, value, size, /*stream=*/nullptr);
}

HEADROOM_ENTRY cudaError_t cudaMemsetAsync(void* address, int value, std::size_t size,
                                           cudaStream_t stream) {
  DryRun& device = dry_run_with_context();
  if (device.memory.owns(address)) {
    device.timeline.run(stream, memory_ns(device.gpu, static_cast<std::int64_t>(size)));
  } else {
    std::memset(address, value, size);
  }
  return cudaSuccess;
}
