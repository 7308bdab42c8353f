// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/launcher.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace headroom::dry_run {
namespace {

std::optional<RankOfWorld> told(const char* rank, const char* ranks) {
  setenv("RANK", rank, 1);
  setenv("WORLD_SIZE", ranks, 1);
  const auto result = rank_by_launcher();
  unsetenv("RANK");
  unsetenv("WORLD_SIZE");
  return result;
}

TEST(RankByLauncher, IsReadWhereItMakesSense) {
  const auto place = told("3", "8");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->rank, 3);
  EXPECT_EQ(place->ranks, 8);
  EXPECT_FALSE(told("8", "8"));
  EXPECT_FALSE(told("-1", "8"));
  EXPECT_FALSE(told("", "8"));
  EXPECT_FALSE(told("0", "8x"));
  EXPECT_FALSE(rank_by_launcher());
}

TEST(RanksOfMachineByLauncher, AreReadWhereTheyMakeSense) {
  const auto told_ranks = [](const char* ranks) {
    setenv("LOCAL_WORLD_SIZE", ranks, 1);
    const auto result = ranks_of_machine_by_launcher();
    unsetenv("LOCAL_WORLD_SIZE");
    return result;
  };
  EXPECT_EQ(told_ranks("4"), 4);
  EXPECT_FALSE(told_ranks("0"));
  EXPECT_FALSE(told_ranks("four"));
  EXPECT_FALSE(ranks_of_machine_by_launcher());
}

}  // namespace
}  // namespace headroom::dry_run
