// SPDX-License-Identifier: Apache-2.0
// cudart: stream-ordered memory (cudaMallocAsync). One pool, which keeps what is freed until it is
// trimmed and takes more where that is not enough. How a real pool falls to pieces is not modelled:
// its reserved bytes are a lower bound.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "src/dry_run/cudart_error.h"
#include "src/dry_run/dry_run.h"

using namespace headroom::dry_run;

namespace {

class Pool {
 public:
  cudaError_t allocate(void** address, std::int64_t bytes) {
    GpuMemory& memory = dry_run_with_context().memory;
    const std::lock_guard lock(mutex_);
    const std::int64_t missing = used_ + bytes - reserved_;
    if (missing > 0) {
      if (!memory.take(missing)) return fail(cudaErrorMemoryAllocation);
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
  static auto& one = *new Pool;
  return one;
}

}  // namespace

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
