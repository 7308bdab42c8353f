// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "src/compare/changes.h"
#include "src/results/machine.h"

namespace headroom {

/// A case in old and new results.
struct CaseChange {
  std::string suite;
  std::string name;
  Trend trend = Trend::same;    // the gravest of its figures; of its status where that changed
  std::string old_status = {};  // empty: the suite had no such case; "not done": it was not run
  std::string new_status = {};
  std::string reason = {};  // why it ends another way than it did
  /// Where this is not empty, the figures are not of the same work, and no trend is told.
  std::vector<std::string> work_differences = {};
  std::vector<FigureChange> figures = {};
  /// Where the peak was: "backward, block 3, aten::mm".
  std::string old_place = {};
  std::string new_place = {};
  std::vector<Growth> growth = {};  // of the peak of allocated bytes, where it changed
};

/// What became of old results, in the cases' old order, new ones last.
struct Comparison {
  /// Where this is not empty, no figure is of the same machine, and no trend is told: all are
  /// `same` or, where they differ, `unclear`.
  std::vector<std::string> machine_differences;
  std::vector<CaseChange> cases;
  std::vector<std::string> varied = {};  // what differs of that which may: what is tried

  bool is_of_the_same() const;  // machine, and work of all cases
  Trend trend() const;          // the gravest
};

/// Compares case by case. A case that vanished, or ends worse than it did, is worse; one that
/// appeared has nothing to be compared with, and is the same.
/// The machines may differ in what `may_vary` names.
/// Throws ResultsError where no case is in both, or the results of one side do not belong together.
Comparison compare(const std::vector<Results>& old_results, const std::vector<Results>& new_results,
                   const std::vector<Varied>& may_vary = {});

// A comparison in the forms that people and programs read. Names out of suite files are escaped as
// the form asks.

/// For a terminal: what is not the same, and a count of all.
std::string comparison_table(const Comparison& comparison);

/// The same, for the summary of a job on GitHub.
std::string comparison_markdown(const Comparison& comparison);

/// The whole comparison: {"trend", "varied", "machine_differences", "cases": [{"suite", "case",
/// "trend", "old_status", "new_status", "reason", "work_differences", "figures": [...],
/// "old_place", "new_place", "growth": [...]}]}.
std::string comparison_json(const Comparison& comparison);

/// A test case for each case: a failure where it is worse, skipped where it is unclear.
std::string comparison_junit(const Comparison& comparison);

/// An annotation of a job on GitHub for each case that is not the same: an error where it is worse,
/// with what its memory grew by and where.
std::string comparison_github(const Comparison& comparison);

/// A form of a comparison, by name.
struct ComparisonFormat {
  const char* name;
  std::string (*write)(const Comparison&);
};
inline constexpr ComparisonFormat kComparisonFormats[] = {
    {"table", &comparison_table}, {"markdown", &comparison_markdown}, {"json", &comparison_json},
    {"junit", &comparison_junit}, {"github", &comparison_github},
};

}  // namespace headroom
