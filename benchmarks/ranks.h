// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/distributed/process_group.h"

// Benchmarks of what several ranks do together, each rank a process with one thread for operators,
// over gloo.
namespace headroom {

/// Where the ranks of one benchmark meet, more than once.
class Meetings {
 public:
  explicit Meetings(Membership first) : first_(std::move(first)) {}

  std::int64_t ranks() const { return first_.ranks; }
  /// Another membership each time; all ranks ask for as many.
  Membership next();

 private:
  Membership first_;
  int count_ = 0;
};

/// Something that all ranks do at the same time, to be timed.
using Part = std::function<void()>;

/// A mechanism of several ranks, and what it is compared with.
struct RankedWork {
  const char* name;
  /// Made by every rank, for a size of which the work knows the unit. The time of the first part is
  /// the benchmark's.
  std::vector<Part> (*make)(Meetings& meetings, std::int64_t size);
  /// Says what the parts took, median seconds on rank 0.
  void (*report)(benchmark::State& state, std::int64_t ranks, std::int64_t size,
                 std::span<const double> seconds);
};

/// Runs `work` on state.range(0) ranks, of which this process is the first, with size
/// state.range(1). In each iteration all ranks wait for one another and do each part once,
/// beginning with another part each time, so that what else the machine does falls on all parts.
void run_on_ranks(benchmark::State& state, const RankedWork& work);

/// The main function: of rank 0, or of another rank that run_on_ranks() started.
int ranks_main(int count, char** arguments, std::span<const RankedWork> works);

}  // namespace headroom
