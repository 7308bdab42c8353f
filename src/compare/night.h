// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "src/compare/comparison.h"
#include "src/compare/history.h"

namespace headroom {

/// What a nightly run leaves: old and new, measured in turns, and again the cases that were
/// suspect.
struct NightlyResults {
  std::vector<Results> old_results;
  std::vector<Results> new_results;
  std::vector<Results> rerun_old = {};
  std::vector<Results> rerun_new = {};
};

/// Reads them out of the folders `old`, `new`, `rerun/old` and `rerun/new` of a folder; the last
/// two may be missing. Throws as read_all_results() does.
NightlyResults read_nightly(const std::string& folder);

/// What came of a night.
struct Night {
  Comparison comparison;  // of old and new, without the rerun
  std::vector<NightlyCase> cases;

  Light light() const;  // the gravest
};

/// Judges each case: anything but a step's time by compare(), where worse is red and unclear is
/// yellow; a step's time by time_light(). Throws ResultsError where old and new are not of the same
/// machine and work.
Night judge_night(const NightlyResults& results, const History& history);

/// The cases whose time is suspect, and which a rerun, or one more round of it, has to confirm.
std::vector<NightlyCase> suspects(const NightlyResults& results, const History& history);

}  // namespace headroom
