// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "src/programs/dry_process.h"

namespace headroom {

/// Ranks of a program that are to be planned, one after the other, while the others never come.
struct PlayedRanks {
  int world = 0;  // all ranks; 0: the program brings its own
  std::vector<int> list;
  /// In place of `list`: the first of each stage of the pipeline, as rank 0 tells how many there
  /// are, where stages are what ranks are divided by last; where there is no pipeline, the first
  /// and the last.
  bool are_all = false;
};

/// Runs a program as each rank, in the order of their list, which is known then where all were
/// asked for. A rank is told what those before it have told. One that fails may have lacked what a
/// later one tells: it runs again where somebody has told something since. Where one has failed
/// before any rank told anything, or was ended, no other runs. Gives the reports of all, and how
/// the first ended that did not end well. Throws as run_program() does.
DryOutcome run_ranks(const DryCommand& command, PlayedRanks& ranks);

}  // namespace headroom
