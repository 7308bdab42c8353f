// SPDX-License-Identifier: Apache-2.0
// cudart: stream-ordered memory (cudaMallocAsync): one pool for each device, which keeps what is
// freed until it is trimmed and takes more where that is not enough. Fragmentation of a real pool
// is not modelled: its reserved bytes are a lower bound.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>

#include "src/dry_run/dry_run.h"

namespace headroom::dry_run {
namespace {

class Pool {
 public:
  explicit Pool(int device) : device_(device) {}

  cudaError_t allocate(void** address, std::int64_t bytes) {
    Device& device = device_with_memory(device_);
    const std::lock_guard lock(mutex_);
    const std::int64_t missing = used_ + bytes - reserved_;
    if (missing > 0) {
      const bool is_taken = device.memory.take(missing);
      report_device(device);
      if (!is_taken) return fail(cudaErrorMemoryAllocation);
      reserved_ += missing;
    }
    used_ += bytes;
    used_peak_ = std::max(used_peak_, used_);
    reserved_peak_ = std::max(reserved_peak_, reserved_);
    *address = device.memory.reserve_addresses(bytes);
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
    device_with_context(device_).memory.give_back(reserved_ - kept);
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
  const int device_;
  mutable std::mutex mutex_;
  std::map<void*, std::int64_t> allocations_;
  std::int64_t used_ = 0;
  std::int64_t used_peak_ = 0;
  std::int64_t reserved_ = 0;
  std::int64_t reserved_peak_ = 0;
};

/// Null: there is no such device.
Pool* pool_of(int device) {
  static auto& pools = *[] {
    auto* all = new std::deque<Pool>;
    for (const Device& each : dry_run().devices) all->emplace_back(each.index);
    return all;
  }();
  return dry_run().has(device) ? &pools[static_cast<std::size_t>(device)] : nullptr;
}

Pool* pool_of(cudaMemPool_t handle) { return reinterpret_cast<Pool*>(handle); }

}  // namespace

HEADROOM_ENTRY cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* handle, int device) {
  *handle = reinterpret_cast<cudaMemPool_t>(pool_of(device));
  return *handle == nullptr ? fail(cudaErrorInvalidDevice) : cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaMallocAsync(void** address, std::size_t size, cudaStream_t) {
  return pool_of(device_with_context().index)->allocate(address, static_cast<std::int64_t>(size));
}

HEADROOM_ENTRY cudaError_t cudaFreeAsync(void* address, cudaStream_t) {
  const Device* owner = dry_run().owner(address);
  return owner == nullptr ? fail(cudaErrorInvalidValue) : pool_of(owner->index)->release(address);
}

HEADROOM_ENTRY cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t keep) {
  pool_of(pool)->trim(static_cast<std::int64_t>(keep));
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute,
                                                   void* value) {
  *static_cast<std::int64_t*>(value) = pool_of(pool)->get(attribute);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute,
                                                   void*) {
  pool_of(pool)->reset(attribute);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaMemPoolSetAccess(cudaMemPool_t, const cudaMemAccessDesc*,
                                                std::size_t) {
  return cudaSuccess;
}

}  // namespace headroom::dry_run
