// SPDX-License-Identifier: Apache-2.0
// cudart: memory of the device, pinned memory of the host, copies; then stream-ordered memory
// (cudaMallocAsync): one pool, which keeps what is freed until it is trimmed and takes more where
// that is not enough. Fragmentation of a real pool is not modelled: its reserved bytes are a lower
// bound.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "src/dry_run/dry_run.h"

namespace headroom::dry_run {
namespace {

/// No more than a program reads to decide by: a number, a size, a few of them.
constexpr std::size_t kMaxBytesOfValues = 64;

/// Counts a copy and gives the host its bytes: what comes from the device is zeros where it is not
/// known. Returns how long it takes.
std::int64_t count_copy(void* to, const void* from, std::size_t size) {
  DryRun& device = dry_run_with_context();
  const auto bytes = static_cast<std::int64_t>(size);
  const bool to_device = device.memory.owns(to);
  const bool from_device = device.memory.owns(from);
  if (to_device && from_device) {
    device.known.copy(to, from, size);
    return memory_ns(device.gpu, 2 * bytes);
  }
  if (to_device) {
    device.known.set(to, from, size);
    device.counters.to_device_bytes += bytes;
  } else if (from_device) {
    device.counters.to_host_bytes += bytes;
    if (size <= kMaxBytesOfValues) ++device.counters.values_read;
    device.known.read(to, from, size);
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

class Pool {
 public:
  cudaError_t allocate(void** address, std::int64_t bytes) {
    GpuMemory& memory = dry_run_with_memory().memory;
    const std::lock_guard lock(mutex_);
    const std::int64_t missing = used_ + bytes - reserved_;
    if (missing > 0) {
      const bool is_taken = memory.take(missing);
      report_device();
      if (!is_taken) return fail(cudaErrorMemoryAllocation);
      reserved_ += missing;
    }
    used_ += bytes;
    used_peak_ = std::max(used_peak_, used_);
    reserved_peak_ = std::max(reserved_peak_, reserved_);
    *address = memory.reserve_addresses(bytes);
    allocations_[*address] = bytes;
    return cudaSuccess;
  }

  cudaError_t release(void* address) {
    const std::lock_guard lock(mutex_);
    const auto found = allocations_.find(address);
    if (found == allocations_.end()) return fail(cudaErrorInvalidValue);
    used_ -= found->second;
    allocations_.erase(found);
    return cudaSuccess;
  }

  void trim(std::int64_t keep) {
    const std::lock_guard lock(mutex_);
    const std::int64_t kept = std::min(reserved_, std::max(keep, used_));
    dry_run().memory.give_back(reserved_ - kept);
    reserved_ = kept;
  }

  std::int64_t get(cudaMemPoolAttr attribute) const {
    const std::lock_guard lock(mutex_);
    switch (attribute) {
      case cudaMemPoolAttrReservedMemCurrent:
        return reserved_;
      case cudaMemPoolAttrReservedMemHigh:
        return reserved_peak_;
      case cudaMemPoolAttrUsedMemCurrent:
        return used_;
      case cudaMemPoolAttrUsedMemHigh:
        return used_peak_;
      default:
        return 0;
    }
  }

  /// The peaks can be reset, to the current value; other attributes say when a pool gives memory
  /// back by itself, which this one never does.
  void reset(cudaMemPoolAttr attribute) {
    const std::lock_guard lock(mutex_);
    if (attribute == cudaMemPoolAttrReservedMemHigh) reserved_peak_ = reserved_;
    if (attribute == cudaMemPoolAttrUsedMemHigh) used_peak_ = used_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<void*, std::int64_t> allocations_;
  std::int64_t used_ = 0;
  std::int64_t used_peak_ = 0;
  std::int64_t reserved_ = 0;
  std::int64_t reserved_peak_ = 0;
};

Pool& pool() {
  static auto& the_pool = *new Pool;
  return the_pool;
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
  *address = dry_run_with_memory().memory.allocate(static_cast<std::int64_t>(size));
  report_device();
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
  report_device();
  return *address == nullptr ? fail(cudaErrorMemoryAllocation) : cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaFreeHost(void* address) {
  dry_run().pinned.release(address);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaHostRegister(void* address, std::size_t size, unsigned) {
  dry_run_with_context().pinned.pin(address, static_cast<std::int64_t>(size));
  report_device();
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
  // Each member on its own: CUDA 12's structure ends behind these four.
  attributes->type = cudaMemoryTypeUnregistered;
  attributes->device = 0;
  attributes->devicePointer = nullptr;
  attributes->hostPointer = nullptr;
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
  timeline.run(/*stream=*/nullptr, count_copy(to, from, size));
  timeline.synchronize(cudaStream_t{});
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t size,
                                           cudaMemcpyKind, cudaStream_t stream) {
  Timeline& timeline = dry_run().timeline;
  timeline.run(stream, count_copy(to, from, size));
  if (blocks_host(to)) timeline.synchronize(stream);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                                             std::size_t from_pitch, std::size_t width,
                                             std::size_t height, cudaMemcpyKind,
                                             cudaStream_t stream) {
  Timeline& timeline = dry_run().timeline;
  for (std::size_t row = 0; row < height; ++row) {
    const std::int64_t ns = count_copy(static_cast<char*>(to) + row * to_pitch,
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
    device.known.fill(address, value, size);
    device.timeline.run(stream, memory_ns(device.gpu, static_cast<std::int64_t>(size)));
  } else {
    std::memset(address, value, size);
  }
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* handle, int) {
  *handle = reinterpret_cast<cudaMemPool_t>(&pool());
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaMallocAsync(void** address, std::size_t size, cudaStream_t) {
  return pool().allocate(address, static_cast<std::int64_t>(size));
}

HEADROOM_ENTRY cudaError_t cudaFreeAsync(void* address, cudaStream_t) {
  return pool().release(address);
}

HEADROOM_ENTRY cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, std::size_t keep) {
  pool().trim(static_cast<std::int64_t>(keep));
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr attribute,
                                                   void* value) {
  *static_cast<std::int64_t*>(value) = pool().get(attribute);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr attribute,
                                                   void*) {
  pool().reset(attribute);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaMemPoolSetAccess(cudaMemPool_t, const cudaMemAccessDesc*,
                                                std::size_t) {
  return cudaSuccess;
}

}  // namespace headroom::dry_run
