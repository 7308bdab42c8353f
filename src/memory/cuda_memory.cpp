// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "src/memory/address_map.h"
#include "src/memory/device_memory.h"

#ifdef HEADROOM_CUDA
#include <ATen/Context.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>

namespace headroom {
namespace {

namespace allocator = c10::cuda::CUDACachingAllocator;

constexpr auto kAll = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);

/// Turns the allocator's trace into ledger events.
///
/// The trace tells what was asked for, not the size of the block that was handed out. The allocator
/// raises its own count only after it traced an allocation, so the block's size shows in the count
/// at the next event; until then it is pending.
class Tracer {
 public:
  Tracer(Ledger& ledger, c10::DeviceIndex device) : ledger_(ledger), device_(device) {}

  /// Called under the allocator's lock, which the same thread may take again.
  void on_trace(const allocator::TraceEntry& entry) {
    using Action = allocator::TraceEntry::Action;
    if (entry.device_ != device_) return;
    const void* address = reinterpret_cast<const void*>(entry.addr_);
    if (entry.action_ == Action::ALLOC) {
      const std::int64_t before = stats().current;
      settle(before);
      pending_ = {address, static_cast<std::int64_t>(entry.size_), before};
      ledger_.allocated(address, pending_.bytes, /*rounding=*/0);
    } else if (entry.action_ == Action::FREE_REQUESTED) {
      // The count already lacks the freed block. If that block is the pending one, the allocator's
      // peak tells whether it mattered.
      if (address == pending_.address) {
        settle(std::max(stats().peak, pending_.count_before + pending_.bytes));
      } else {
        settle(stats().current + block_bytes(address));
      }
      blocks_.take(address);
      ledger_.freed(address);
    }
  }

  /// Books what is pending; to be called before a peak is read.
  void settle_now() { settle(stats().current); }

 private:
  struct Pending {
    const void* address = nullptr;
    std::int64_t bytes = 0;
    std::int64_t count_before = 0;
  };

  c10::CachingAllocator::Stat stats() const {
    return allocator::getDeviceStats(device_).allocated_bytes[kAll];
  }

  std::int64_t block_bytes(const void* address) {
    const std::int64_t* const found = blocks_.find(address);
    return found == nullptr ? 0 : *found;
  }

  void settle(std::int64_t count_after) {
    if (pending_.address == nullptr) return;
    const std::int64_t block = count_after - pending_.count_before;
    blocks_.insert(pending_.address, block);
    ledger_.set_rounding(pending_.address, block - pending_.bytes);
    pending_ = {};
  }

  Ledger& ledger_;
  c10::DeviceIndex device_;
  Pending pending_;
  AddressMap<std::int64_t> blocks_;  // bytes handed out, by address
};

class CudaMemory final : public DeviceMemory {
 public:
  explicit CudaMemory(Ledger& ledger)
      : device_(c10::cuda::current_device()), tracer_(std::make_shared<Tracer>(ledger, device_)) {
    allocator::resetPeakStats(device_);
    // LibTorch has no way to detach a tracker; `watching_` outlives this object with it.
    allocator::attachAllocatorTraceTracker(
        [tracer = tracer_, watching = watching_](const allocator::TraceEntry& entry) {
          if (watching->load(std::memory_order_relaxed)) tracer->on_trace(entry);
        });
  }
  /// Gives back what the allocator keeps: who measures next meets an empty device.
  ~CudaMemory() override {
    watching_->store(false);
    allocator::emptyCache();
  }

  PeakMemory take_peak() override {
    c10::cuda::device_synchronize();
    tracer_->settle_now();
    const auto stats = allocator::getDeviceStats(device_);
    allocator::resetPeakStats(device_);
    return {.allocated_bytes = stats.allocated_bytes[kAll].peak,
            .reserved_bytes = stats.reserved_bytes[kAll].peak};
  }

 private:
  c10::DeviceIndex device_;
  std::shared_ptr<Tracer> tracer_;
  std::shared_ptr<std::atomic<bool>> watching_ = std::make_shared<std::atomic<bool>>(true);
};

void start_cuda() {
  require_cuda();
  at::globalContext().lazyInitDevice(at::kCUDA);
}

}  // namespace

void require_cuda() {
  if (c10::cuda::device_count() == 0) throw Unsupported("no CUDA device on this machine");
}

std::unique_ptr<DeviceMemory> watch_cuda_memory(Ledger& ledger) {
  start_cuda();
  return std::make_unique<CudaMemory>(ledger);
}

void limit_cuda_memory(std::int64_t bytes) {
  start_cuda();
  std::size_t free = 0;
  std::size_t total = 0;
  C10_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  const double fraction = static_cast<double>(bytes) / static_cast<double>(total);
  allocator::setMemoryFraction(std::min(1.0, fraction), c10::cuda::current_device());
}

}  // namespace headroom

#else

namespace headroom {

void require_cuda() { throw Unsupported("this build has no CUDA: its LibTorch has none"); }

std::unique_ptr<DeviceMemory> watch_cuda_memory(Ledger&) {
  require_cuda();
  return nullptr;
}
void limit_cuda_memory(std::int64_t) { require_cuda(); }

}  // namespace headroom

#endif
