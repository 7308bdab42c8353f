// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "src/compare/comparison.h"

// A comparison in the forms that people and programs read. Names out of suite files are escaped as
// the form asks.
namespace headroom {

/// For a terminal: what is not the same, and a count of all.
std::string comparison_table(const Comparison& comparison);

/// The same, for the summary of a job on GitHub.
std::string comparison_markdown(const Comparison& comparison);

/// All of it: {"trend", "machine_differences", "cases": [{"suite", "case", "trend", "old_status",
/// "new_status", "reason", "work_differences", "figures": [...], "old_place", "new_place",
/// "growth": [...]}]}.
std::string comparison_json(const Comparison& comparison);

/// A test case for each case: a failure where it is worse, skipped where it is unclear.
std::string comparison_junit(const Comparison& comparison);

/// One of them, by name.
struct ComparisonFormat {
  const char* name;
  std::string (*write)(const Comparison&);
};
inline constexpr ComparisonFormat kComparisonFormats[] = {
    {"table", &comparison_table},
    {"markdown", &comparison_markdown},
    {"json", &comparison_json},
    {"junit", &comparison_junit},
};

}  // namespace headroom
