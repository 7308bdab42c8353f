// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <memory>
#include <optional>

#include "src/memory/device_memory.h"

namespace headroom {

/// Gives Google Benchmark the memory of a run as our ledger counts it: the most bytes of live
/// tensors on the CPU, setup included, and what stayed. It shows in JSON output
/// (--benchmark_format=json), as max_bytes_used and net_heap_growth; allocations are not counted,
/// so allocs_per_iter reads 0. Not for benchmarks that watch memory themselves.
class MemoryManager final : public benchmark::MemoryManager {
 public:
  void Start() override;
  void Stop(Result& result) override;
  void Stop(Result* result);  // what Google Benchmark 1.7 declares as pure and never calls

 private:
  std::optional<Ledger> ledger_;
  std::unique_ptr<DeviceMemory> memory_;
};

}  // namespace headroom
