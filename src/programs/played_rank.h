// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "src/workers/this_process.h"

namespace headroom {

/// One rank of a program, where the others never come.
struct PlayedRank {
  int rank = 0;
  int ranks = 1;

  static constexpr int kMaxRanks = 1 << 20;
};

/// How many ranks are on a machine: the most that the world can be divided by, of a machine's 8.
int ranks_of_machine(int ranks);

/// What torchrun tells the rank, where its store is at `port` of this machine; and that the dry run
/// plays the others, with what those that ran before have told in the folder `told`.
Environment environment_of(const PlayedRank& played, int port, const std::string& told);

}  // namespace headroom
