// SPDX-License-Identifier: Apache-2.0
#include "src/memory/device_memory.h"

#include <c10/core/Allocator.h>
#include <c10/core/StorageImpl.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "src/core/error.h"
#include "src/core/file.h"
#include "src/memory/refused_memory.h"

#ifdef HEADROOM_CUDA
#include <ATen/Context.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <cuda_runtime_api.h>
#include <torch/csrc/cuda/memory_snapshot.h>

#include "src/memory/address_map.h"
#endif

namespace headroom {
namespace {

/// Receives every allocation (size above 0) and every release (size below 0).
class CpuReporter final : public c10::MemoryReportingInfoBase {
 public:
  explicit CpuReporter(Ledger& ledger) : ledger_(ledger) {}

  bool memoryProfilingEnabled() const override { return true; }

  void reportMemoryUsage(void* address, std::int64_t size, std::size_t total_allocated,
                         std::size_t /*total_reserved*/, c10::Device device) override {
    if (!device.is_cpu()) return;
    // LibTorch rounds nothing up: it asks the system for what it was asked for.
    if (size > 0) {
      ledger_.allocated(address, size, /*rounding=*/0);
    } else {
      ledger_.freed(address);
    }
    const std::lock_guard lock(mutex_);
    const auto total = static_cast<std::int64_t>(total_allocated);
    if (!before_) before_ = total - size;
    current_ = total - *before_;
    peak_ = std::max(peak_, current_);
  }

  std::int64_t take_peak() {
    const std::lock_guard lock(mutex_);
    return std::exchange(peak_, current_);
  }

 private:
  Ledger& ledger_;
  std::mutex mutex_;
  std::optional<std::int64_t> before_;  // what was counted before the first event
  std::int64_t current_ = 0;            // LibTorch's own count since
  std::int64_t peak_ = 0;
};

class CpuMemory final : public DeviceMemory {
 public:
  explicit CpuMemory(Ledger& ledger)
      : reporter_(std::make_shared<CpuReporter>(ledger)),
        guard_(c10::DebugInfoKind::PROFILER_STATE, reporter_) {}

  PeakMemory take_peak() override { return {.allocated_bytes = reporter_->take_peak()}; }

 private:
  std::shared_ptr<CpuReporter> reporter_;
  c10::DebugInfoGuard guard_;
};

}  // namespace

std::unique_ptr<DeviceMemory> watch_cpu_memory(Ledger& ledger) {
  return std::make_unique<CpuMemory>(ledger);
}

void release_storage(const at::Tensor& tensor) {
  c10::StorageImpl& storage = *tensor.storage().unsafeGetStorageImpl();
  storage.set_data_ptr_noswap(c10::DataPtr(nullptr, tensor.device()));
  storage.set_nbytes(0);
}

void allocate_storage(const at::Tensor& tensor) {
  c10::StorageImpl& storage = *tensor.storage().unsafeGetStorageImpl();
  const std::int64_t elements = tensor.storage_offset() + tensor.numel();
  const std::size_t bytes = static_cast<std::size_t>(elements) * tensor.element_size();
  storage.set_data_ptr_noswap(c10::GetAllocator(tensor.device().type())->allocate(bytes));
  storage.set_nbytes(bytes);
}

bool is_allocated(const at::Tensor& tensor) { return tensor.storage().nbytes() > 0; }

#ifdef HEADROOM_CUDA

namespace {

namespace allocator = c10::cuda::CUDACachingAllocator;

constexpr auto kAll = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);

/// Turns the allocator's trace into ledger events.
///
/// The trace tells what was asked for, not the size of the block that was handed out. The allocator
/// raises its own count only after it traced an allocation, so the block's size shows in the count
/// at the next event; until then it is pending.
class CudaTracer {
 public:
  CudaTracer(Ledger& ledger, c10::DeviceIndex device) : ledger_(ledger), device_(device) {}

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
      : device_(c10::cuda::current_device()),
        tracer_(std::make_shared<CudaTracer>(ledger, device_)) {
    allocator::resetPeakStats(device_);
    follow_refused_memory();
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
  std::shared_ptr<CudaTracer> tracer_;
  std::shared_ptr<std::atomic<bool>> watching_ = std::make_shared<std::atomic<bool>>(true);
};

void start_cuda() {
  require_cuda();
  at::globalContext().lazyInitDevice(at::kCUDA);
}

constexpr std::size_t kMaxSnapshotEvents = 1'000'000;  // the last ones; of 100 bytes or so each

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

void give_back_unused(c10::Device device) {
  if (device.is_cuda()) allocator::emptyCache();
}

void start_snapshot(c10::Device device) {
  if (!device.is_cuda())
    throw Unsupported("a snapshot shows CUDA's allocator, not that of the CPU");
  at::globalContext().lazyInitDevice(at::kCUDA);
  torch::cuda::_record_memory_history("all", /*context=*/std::nullopt, "all", kMaxSnapshotEvents);
}

void write_snapshot(const std::string& path) {
  write_file_atomically(path, torch::cuda::_memory_snapshot_pickled());
}

#else

void require_cuda() { throw Unsupported("this build has no CUDA: its LibTorch has none"); }

std::unique_ptr<DeviceMemory> watch_cuda_memory(Ledger&) {
  require_cuda();
  return nullptr;
}
void limit_cuda_memory(std::int64_t) { require_cuda(); }
void give_back_unused(c10::Device) {}

void start_snapshot(c10::Device) {
  throw Unsupported("this build has no CUDA, whose allocator a snapshot shows");
}
void write_snapshot(const std::string&) {}

#endif

}  // namespace headroom
