// SPDX-License-Identifier: Apache-2.0
#include "src/programs/rank_runs.h"

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"

namespace headroom {
namespace {

/// Which ranks ran, in order, and how all that ended.
struct Ran {
  std::string ranks;
  DryEnd end;
};

/// Runs a script of the shell as each rank. `$TOLD` is the folder of what ranks tell.
Ran run(const std::string& script, PlayedRanks ranks) {
  const TemporaryFolder folder;
  const std::string log = folder / "log";
  const std::vector<std::string> words{
      "/bin/sh", "-c", "TOLD=$HEADROOM_DRY_RUN_PLAYED; printf $RANK >> " + log + "; " + script};
  Interrupts signals;
  const DryOutcome outcome = run_ranks({words, DryRun{}, signals, -1}, ranks);
  return {read_text(log), outcome.end};
}

const std::string kTell = "echo something > $TOLD/$RANK; ";

TEST(RankRuns, are_made_again_where_a_later_rank_told_what_one_lacked) {
  const Ran ran = run(kTell + "test $RANK = 1 || test -e $TOLD/1", {.world = 2, .list = {0, 1}});
  EXPECT_EQ(ran.ranks, "010");
  EXPECT_TRUE(ran.end.is_good());
}

TEST(RankRuns, end_where_nobody_tells_anything_new) {
  const Ran ran = run(kTell + "test $RANK = 1 || exit 7", {.world = 2, .list = {0, 1}});
  EXPECT_EQ(ran.ranks, "010");
  EXPECT_EQ(ran.end.exit.code, 7);
}

TEST(RankRuns, are_no_more_than_one_where_it_fails_by_itself) {
  const Ran ran = run("exit 3", {.world = 2, .list = {0, 1}});
  EXPECT_EQ(ran.ranks, "0");
  EXPECT_EQ(ran.end.exit.code, 3);
}

TEST(RankRuns, of_all_are_those_of_the_first_and_the_last_where_there_is_no_pipeline) {
  EXPECT_EQ(run("true", {.world = 8, .list = {}, .are_all = true}).ranks, "07");
  EXPECT_EQ(run("true", {.world = 1, .list = {}, .are_all = true}).ranks, "0");
}

}  // namespace
}  // namespace headroom
