// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

namespace headroom::dry_run {

/// Which of how many ranks a process is.
struct RankOfWorld {
  int rank = 0;
  int ranks = 0;
};

/// As torchrun and those who do as it does tell it, by RANK and WORLD_SIZE; nothing: they tell
/// nothing that makes sense.
std::optional<RankOfWorld> rank_by_launcher();

/// How many ranks a machine has, as it tells by LOCAL_WORLD_SIZE; nothing: it does not.
std::optional<int> ranks_of_machine_by_launcher();

}  // namespace headroom::dry_run
