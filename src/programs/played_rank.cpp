// SPDX-License-Identifier: Apache-2.0
#include "src/programs/played_rank.h"

namespace headroom {

int ranks_of_machine(int ranks) {
  int most = 8;
  while (ranks % most != 0) --most;
  return most;
}

Environment environment_of(const PlayedRank& played, int port, const std::string& told) {
  const int of_machine = ranks_of_machine(played.ranks);
  const std::string rank = std::to_string(played.rank);
  const std::string ranks = std::to_string(played.ranks);
  return {{"RANK", rank},
          {"WORLD_SIZE", ranks},
          {"ROLE_RANK", rank},
          {"ROLE_WORLD_SIZE", ranks},
          {"ROLE_NAME", "default"},
          {"LOCAL_RANK", std::to_string(played.rank % of_machine)},
          {"LOCAL_WORLD_SIZE", std::to_string(of_machine)},
          {"GROUP_RANK", std::to_string(played.rank / of_machine)},
          {"GROUP_WORLD_SIZE", std::to_string(played.ranks / of_machine)},
          {"MASTER_ADDR", "127.0.0.1"},
          {"MASTER_PORT", std::to_string(port)},
          {"TORCHELASTIC_RUN_ID", "headroom"},
          {"TORCHELASTIC_RESTART_COUNT", "0"},
          {"TORCHELASTIC_MAX_RESTARTS", "0"},
          // No rank makes a store: there is one.
          {"TORCHELASTIC_USE_AGENT_STORE", "True"},
          // One unique id for each communicator: those of other roots never come.
          {"TORCH_NCCL_RANKS_PER_ROOT", std::to_string(PlayedRank::kMaxRanks)},
          {"HEADROOM_DRY_RUN_PLAYED", told}};
}

}  // namespace headroom
