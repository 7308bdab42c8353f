// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/results/results.h"

namespace headroom {

/// A case of a suite with all its repeats: several results of one suite, kind and device.
struct RepeatedCase {
  std::string group;  // "quickstart/cpu", or, of a plan, "vit_cifar10/planned_a100-40gb"
  std::string name;
  std::vector<const CaseResult*> repeats;  // in the order of the results
  std::size_t not_done = 0;                // results that lack it

  std::string path() const { return group + "/" + name; }
  /// Whether each result of the suite has it, and it ended as `ok` in each.
  bool is_ok() const;
  /// How it ended, for people: "ok", "crashed: signal 11", "not done"; where repeats differ, the
  /// first of the worse ones.
  std::string ending() const;
  /// A column's numbers, of the repeats that have one.
  std::vector<double> figures(std::string_view column) const;
};

/// All cases of all results; groups in the order in which they first come, a group's cases in the
/// suite's. They point into `all`. Throws ResultsError where a case of a group is not the same
/// work in each of its results: those are no repeats.
std::vector<RepeatedCase> repeated_cases(const std::vector<Results>& all);

/// What exports show of a case: for all of them less is better.
struct Figure {
  std::string_view column;
  std::string_view unit;  // "bytes" or "ns"
};
inline constexpr Figure kFigures[] = {
    {"run_peak_allocated_bytes", "bytes"}, {"run_peak_reserved_bytes", "bytes"},
    {"driver_peak_bytes", "bytes"},        {"pinned_peak_bytes", "bytes"},
    {"step_time_median_ns", "ns"},
};

}  // namespace headroom
