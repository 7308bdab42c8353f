// SPDX-License-Identifier: Apache-2.0
#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>
#include <mutex>
#include <optional>

#include "src/memory/device_memory.h"

namespace headroom {
namespace {

/// Receives every allocation (size above 0) and every release (size below 0).
class Reporter final : public c10::MemoryReportingInfoBase {
 public:
  explicit Reporter(Ledger& ledger) : ledger_(ledger) {}

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
      : reporter_(std::make_shared<Reporter>(ledger)),
        guard_(c10::DebugInfoKind::PROFILER_STATE, reporter_) {}

  PeakMemory take_peak() override { return {.allocated_bytes = reporter_->take_peak()}; }

 private:
  std::shared_ptr<Reporter> reporter_;
  c10::DebugInfoGuard guard_;
};

}  // namespace

std::unique_ptr<DeviceMemory> watch_cpu_memory(Ledger& ledger) {
  return std::make_unique<CpuMemory>(ledger);
}

}  // namespace headroom
