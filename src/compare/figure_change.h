// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/results/repeats.h"
#include "src/results/statistics.h"

namespace headroom {

/// What became of a figure, or of a case.
enum class Trend {
  same,
  better,
  unclear,  // too few processes, or too much noise, to tell
  worse,
};

/// One figure of a case in old and new results: a column of results.csv.
struct FigureChange {
  std::string column;
  Trend trend = Trend::same;
  double old_value = 0;  // of several processes the median
  double new_value = 0;
  /// Of a time: how many times the old one the new one is, with its 95 % interval.
  std::optional<double> ratio = {};
  std::optional<Interval> interval = {};
  std::string note = {};  // why it is not called same; may be empty

  double percent() const;  // from old to new; 0 where both are 0
};

/// The most that one comparison allows for chance: the probability that a step's time that did not
/// change is called changed.
inline constexpr double kTimeP = 0.01;

/// The figures that both have, compared:
/// - bytes and operations are exact: any other value than those of the old runs is a change. What
///   the driver counts is compared between plans only, as other processes are in it;
/// - reserved bytes that were measured may move by the case's gate.reserved_bytes;
/// - a step's time has changed where Mann and Whitney's test says so of the processes' medians and
///   the ratio passes the case's gate.time_percent; it is the same where the ratio's interval lies
///   within that;
/// - losses and the gradient norm of the first step may move by what another order of the same sums
///   does, the last loss by a hundred times that; accuracy may fall by 3 standard errors.
std::vector<FigureChange> figure_changes(const Repeats& old_case, const Repeats& new_case);

}  // namespace headroom
