// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/results/repeats.h"
#include "src/results/statistics.h"

// What became of a case from old to new results: of its figures, and of the tensors of its peak.
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
  double old_value = 0;  // the median of several processes
  double new_value = 0;
  std::optional<double> ratio = {};  // of a time: the new value by the old, with its 95 % interval
  std::optional<Interval> interval = {};
  std::string note = {};  // why it is not called same; may be empty

  double percent() const;  // from old to new; 0 where both are 0
};

/// Compares the figures that both cases have:
/// - bytes and operations are exact: any other value than those of the old runs is a change. What
///   the driver counts is compared between plans only, as other processes are in it;
/// - reserved bytes that were measured may move by the case's gate.reserved_bytes;
/// - a step's time has changed where Mann and Whitney's test says so of the processes' medians and
///   the ratio passes the case's gate.time_percent; it is the same where the ratio's interval lies
///   within that. A time that did not change is called changed once in 100 comparisons at most;
/// - losses and the gradient norm of the first step may move by what another order of the same sums
///   does, the last loss by a hundred times that; accuracy may fall by 3 standard errors.
std::vector<FigureChange> figure_changes(const Repeats& old_case, const Repeats& new_case);

/// Tensors of one kind that a new peak has more of, or fewer, than an old one.
struct Growth {
  std::string category;              // what they are for
  std::string phase;                 // where they were made
  std::vector<std::int64_t> blocks;  // in each of these; empty: outside of the blocks
  std::string op;                    // that made them; empty: none, or not known of a timed step
  std::int64_t bytes = 0;            // of one tensor; all of the rounding
  std::int64_t count = 0;            // how many more in each place; negative: fewer
  std::string line = {};             // of somebody's program, at which they are held

  std::int64_t total_bytes() const;  // in all its places
};

/// The tensors by which the new peak differs from the old one, out of the records, the most bytes
/// first. They sum to the difference of the two peaks, to the byte. Of somebody's program, its
/// lines that hold more of a kind of memory, or less; a change that only moves a line is none.
/// Empty where a record names neither, as where a case went wrong.
std::vector<Growth> growth(const CaseResult& old_result, const CaseResult& new_result);

}  // namespace headroom
