// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "src/workers/this_process.h"

namespace headroom {

/// One rank of a program, where the others never come.
struct PlayedRank {
  int rank = 0;
  int ranks = 1;

  static constexpr int kMaxRanks = 1 << 20;
};

/// Those that are to be planned, one after the other.
struct PlayedRanks {
  int world = 0;  // all ranks; 0: the program brings its own
  std::vector<int> list;
  /// In place of `list`: the first of each stage of the pipeline, as rank 0 tells how many there
  /// are where stages are what ranks are divided by last, and the last of all.
  bool are_all = false;
};

/// How many ranks are on a machine: the most that the world can be divided by, of a machine's 8.
int ranks_of_machine(int ranks);

/// What torchrun tells the rank, where its store is at `port` of this machine; and that the dry run
/// plays the others.
Environment environment_of(const PlayedRank& played, int port);

}  // namespace headroom
