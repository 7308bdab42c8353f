// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "src/results/repeats.h"

// What all exports say of a case in the same way.
namespace headroom {

/// Where a case belongs: "quickstart/cpu", or, of a plan, "vit_cifar10/planned_a100-40gb".
std::string group_of(const Repeats& repeats);

/// The name under which other tools know it: the group, "/" and its name.
std::string path_of(const Repeats& repeats);

bool is_ok(const Repeats& repeats);

/// How it ended, for people: "ok", "crashed: signal 11", "not done".
std::string ending_of(const Repeats& repeats);

/// A column that is exported: of all of them less is better.
struct Figure {
  std::string column;
  std::string unit;  // "bytes" or "ns"
};
inline const Figure kFigures[] = {
    {"run_peak_allocated_bytes", "bytes"}, {"run_peak_reserved_bytes", "bytes"},
    {"driver_peak_bytes", "bytes"},        {"pinned_peak_bytes", "bytes"},
    {"step_time_median_ns", "ns"},
};

}  // namespace headroom
