// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "src/compare/figure_change.h"
#include "src/compare/growth.h"

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
  std::vector<Growth> growth = {};  // where the peak of allocated bytes is another
};

/// What became of old results, in the cases' old order, new ones last.
struct Comparison {
  /// Where this is not empty, no figure is of the same machine, and no trend is told: all are
  /// `same` or, where they differ, `unclear`.
  std::vector<std::string> machine_differences;
  std::vector<CaseChange> cases;

  bool is_of_the_same() const;  // machine, and work of all cases
  Trend trend() const;          // the gravest
};

/// Compares case by case. A case that vanished, or ends worse than it did, is worse; one that
/// appeared has nothing to be compared with, and is the same.
/// Throws ResultsError where no case is in both, or the results of one side do not belong together.
Comparison compare(const std::vector<Results>& old_results,
                   const std::vector<Results>& new_results);

}  // namespace headroom
