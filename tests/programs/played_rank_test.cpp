// SPDX-License-Identifier: Apache-2.0
#include "src/programs/played_rank.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace headroom {
namespace {

std::string value(const Environment& environment, const std::string& name) {
  const auto found = std::find_if(environment.begin(), environment.end(),
                                  [&](const auto& entry) { return entry.first == name; });
  return found == environment.end() ? "" : found->second;
}

TEST(PlayedRank, is_on_a_machine_of_eight_where_the_world_can_be_divided_so) {
  EXPECT_EQ(ranks_of_machine(1), 1);
  EXPECT_EQ(ranks_of_machine(4), 4);
  EXPECT_EQ(ranks_of_machine(7), 7);
  EXPECT_EQ(ranks_of_machine(12), 6);
  EXPECT_EQ(ranks_of_machine(13), 1);
  EXPECT_EQ(ranks_of_machine(512), 8);
}

TEST(PlayedRank, is_told_what_torchrun_tells) {
  const Environment environment = environment_of({.rank = 13, .ranks = 32}, 4567, "/tmp/told");
  for (const auto& [name, text] :
       {std::pair{"RANK", "13"}, std::pair{"WORLD_SIZE", "32"}, std::pair{"LOCAL_RANK", "5"},
        std::pair{"LOCAL_WORLD_SIZE", "8"}, std::pair{"GROUP_RANK", "1"},
        std::pair{"GROUP_WORLD_SIZE", "4"}, std::pair{"MASTER_PORT", "4567"},
        std::pair{"HEADROOM_DRY_RUN_PLAYED", "/tmp/told"}}) {
    EXPECT_EQ(value(environment, name), text) << name;
  }
}

}  // namespace
}  // namespace headroom
