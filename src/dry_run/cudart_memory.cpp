// SPDX-License-Identifier: Apache-2.0
// cudart: memory of the devices, pinned memory of the host, copies.
#include <cuda_runtime_api.h>

#include <cstring>

#include "src/dry_run/dry_run.h"
#include "src/dry_run/torch_library.h"

namespace headroom::dry_run {
namespace {

/// No more than a program reads to decide by: a number, a size, a list of them.
constexpr std::size_t kMaxBytesOfValues = 4096;

/// Whether so many bytes are all of a block of PyTorch's: it rounds up to 512, and leaves large
/// ones up to 1 MiB.
bool is_whole_block(const void* to, std::size_t size) {
  const std::int64_t left = dry_run().blocks.behind(to) - static_cast<std::int64_t>(size);
  return left < (size > (1 << 20) ? 1 << 20 : 512);
}

/// all() of one bool is a copy of it: where it is not known it is taken for true, as of several.
/// Where a whole block is written, what is known of its elements alone is known as well.
void copy_known(void* to, const void* from, std::size_t size) {
  KnownBytes& known = dry_run().known;
  known.copy(to, from, size);
  if (is_whole_block(to, size) && !known.has_any(to, size)) known.copy_share(to, size, from);
  if (size == sizeof(bool) && known.find(to, size).empty() && is_called_by_all()) {
    known.fill(to, 1, size, kAssumed);
  }
}

/// Counts a copy and gives the host its bytes: what comes from the device is zeros where it is not
/// known. Returns the work that it is.
Work count_copy(void* to, const void* from, std::size_t size) {
  device_with_context();
  DryRun& run = dry_run();
  const auto bytes = static_cast<std::int64_t>(size);
  Device* const to_device = run.owner(to);
  Device* const from_device = run.owner(from);
  if (to_device != nullptr && from_device != nullptr) {
    copy_known(to, from, size);
    return to_device == from_device ? device_copy_work(run.gpu, bytes)
                                    : peer_copy_work(run.gpu, bytes);
  }
  if (to_device != nullptr) {
    run.known.set(to, from, size);
    to_device->counters.to_device_bytes += bytes;
  } else if (from_device != nullptr) {
    from_device->counters.to_host_bytes += bytes;
    const bool is_known = run.known.read(to, from, size);
    if (!is_known && size <= kMaxBytesOfValues) ++from_device->counters.values_read;
  } else {
    std::memcpy(to, from, size);
  }
  return host_copy_work(run.gpu, bytes);
}

/// Memory of the host that is not pinned.
bool is_pageable(const void* address) {
  DryRun& run = dry_run();
  return run.owner(address) == nullptr && !run.pinned.owns(address) && !run.managed.owns(address);
}

/// So many bytes go to the device while the host goes on (CUDA C++ Programming Guide, "Concurrent
/// Execution between Host and Device").
constexpr std::int64_t kQueuedWithStream = 64 << 10;

/// Of 16 lanes of PCIe 6. A GPU with a faster link to the host, as a GH200's, reads its pages where
/// they are: from memory that is not pinned it took as long as from pinned (docs/time_rates.md).
constexpr double kFastestPcie = 128e9;

/// What is copied between the device and memory that is not pinned goes through the driver's own:
/// the host waits for the stream, and copies (CUDA Runtime API, "API synchronization behavior").
void run_copy(void* to, const void* from, std::size_t size, cudaStream_t stream) {
  DryRun& run = dry_run();
  const bool from_host = is_pageable(from);
  const bool to_host = is_pageable(to);
  const auto bytes = static_cast<std::int64_t>(size);
  const Work copy = count_copy(to, from, size);
  const bool is_captured = run.timeline.capture_of(stream) != nullptr;
  const bool waits = !is_captured && (to_host || (from_host && bytes > kQueuedWithStream));
  if (waits && from_host != to_host) {
    run.timeline.synchronize(stream);
    const bool by_pcie = run.gpu.host_bytes_per_second <= kFastestPcie;
    if (by_pcie) run.timeline.keep_host_busy(staging_ns(copy, bytes, from_host));
  }
  run.timeline.run(stream, copy);
  if (waits) run.timeline.synchronize(stream);
}

}  // namespace

HEADROOM_ENTRY cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  const GpuMemory& memory = device_with_context().memory;
  *total = static_cast<std::size_t>(memory.total());
  // Beyond the memory (overcommit) nothing is free.
  *free = memory.used() < memory.total() ? *total - static_cast<std::size_t>(memory.used()) : 0;
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaMalloc(void** address, std::size_t size) {
  Device& device = device_with_memory();
  *address = device.memory.allocate(static_cast<std::int64_t>(size));
  report_device(device);
  return *address == nullptr ? fail(cudaErrorMemoryAllocation) : cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaFree(void* address) {
  device_with_context();
  if (address == nullptr) return cudaSuccess;
  if (dry_run().managed.owns(address)) {
    dry_run().managed.release(address);
    return cudaSuccess;
  }
  Device* owner = dry_run().owner(address);
  if (owner == nullptr) return fail(cudaErrorInvalidValue);
  // cudaFree waits for all work that may use the memory.
  dry_run().timeline.synchronize_device(owner->index);
  return owner->memory.release(address) ? cudaSuccess : fail(cudaErrorInvalidValue);
}

/// None of the device's: a real one moves there what its kernels touch, as far as there is room.
HEADROOM_ENTRY cudaError_t cudaMallocManaged(void** address, std::size_t size, unsigned) {
  const Device& device = device_with_context();
  *address = dry_run().managed.allocate(static_cast<std::int64_t>(size));
  report_device(device);
  return *address == nullptr ? fail(cudaErrorMemoryAllocation) : cudaSuccess;
}

/// A hint. Its other arguments are not the same in CUDA 12 and 13.
HEADROOM_ENTRY cudaError_t cudaMemPrefetchAsync(const void*, std::size_t, cudaMemLocation, unsigned,
                                                cudaStream_t) {
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaHostAlloc(void** address, std::size_t size, unsigned) {
  const Device& device = device_with_context();
  *address = dry_run().pinned.allocate(static_cast<std::int64_t>(size));
  report_device(device);
  return *address == nullptr ? fail(cudaErrorMemoryAllocation) : cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaFreeHost(void* address) {
  dry_run().pinned.release(address);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaHostRegister(void* address, std::size_t size, unsigned) {
  const Device& device = device_with_context();
  dry_run().pinned.pin(address, static_cast<std::int64_t>(size));
  report_device(device);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaHostUnregister(void* address) {
  dry_run().pinned.unpin(address);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes,
                                                    const void* pointer) {
  void* address = const_cast<void*>(pointer);
  // Each member on its own: CUDA 12's structure ends behind these four.
  attributes->type = cudaMemoryTypeUnregistered;
  attributes->device = 0;
  attributes->devicePointer = nullptr;
  attributes->hostPointer = nullptr;
  if (const Device* owner = dry_run().owner(pointer); owner != nullptr) {
    attributes->type = cudaMemoryTypeDevice;
    attributes->device = owner->index;
    attributes->devicePointer = address;
  } else if (const bool is_managed = dry_run().managed.owns(pointer);
             is_managed || dry_run().pinned.owns(pointer)) {
    attributes->type = is_managed ? cudaMemoryTypeManaged : cudaMemoryTypeHost;
    attributes->devicePointer = address;
    attributes->hostPointer = address;
  }
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaMemcpy(void* to, const void* from, std::size_t size,
                                      cudaMemcpyKind) {
  run_copy(to, from, size, /*stream=*/nullptr);
  dry_run().timeline.synchronize(cudaStream_t{});
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t size,
                                           cudaMemcpyKind, cudaStream_t stream) {
  run_copy(to, from, size, stream);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                                             std::size_t from_pitch, std::size_t width,
                                             std::size_t height, cudaMemcpyKind,
                                             cudaStream_t stream) {
  for (std::size_t row = 0; row < height; ++row) {
    run_copy(static_cast<char*>(to) + row * to_pitch,
             static_cast<const char*>(from) + row * from_pitch, width, stream);
  }
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int,
                                               std::size_t size, cudaStream_t stream) {
  return cudaMemcpyAsync(to, from, size, cudaMemcpyDeviceToDevice, stream);
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
  device_with_context();
  DryRun& run = dry_run();
  if (run.owner(address) != nullptr) {
    run.known.fill(address, value, size);
    // It writes, where a copy reads as well.
    run.timeline.run(stream, device_copy_work(run.gpu, static_cast<std::int64_t>(size) / 2));
  } else {
    std::memset(address, value, size);
  }
  return cudaSuccess;
}

}  // namespace headroom::dry_run
