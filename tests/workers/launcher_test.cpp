// SPDX-License-Identifier: Apache-2.0
#include "src/workers/launcher.h"

#include <gtest/gtest.h>

#include <vector>

#include "src/core/error.h"
#include "tests/core/messages.h"

namespace headroom {
namespace {

/// What each launcher sets in the process that is rank 5 of 8, the second of the four on its
/// machine.
struct Example {
  std::string launcher;
  std::string ranks;
  std::string rank;
  std::string local_rank;
  std::string local_ranks;  // empty: none
  Variables more = {};      // what it sets beside, and must not matter

  Variables environment() const {
    Variables all = {{"PATH", "/bin"},
                     {"MASTER_ADDR", "node-3.cluster"},
                     {"MASTER_PORT", "29500"},
                     {ranks, "8"},
                     {rank, "5"},
                     {local_rank, "1"}};
    if (!local_ranks.empty()) all[local_ranks] = "4";
    all.insert(more.begin(), more.end());
    return all;
  }

  Variables with(const std::string& name, const std::string& value) const {
    Variables all = environment();
    all[name] = value;
    return all;
  }

  Variables without(const std::string& name) const {
    Variables all = environment();
    all.erase(name);
    return all;
  }

  std::string refusal(const Variables& environment) const {
    return message_of<ConfigError>([&] { read_launch(environment); });
  }

  std::string message(const std::string& name, const std::string& what,
                      const std::string& allowed) const {
    return "environment variable " + name + " is " + what + "; allowed, as " + launcher +
           " has started this (" + ranks + " is set): " + allowed;
  }
};

const std::vector<Example> kExamples = {
    {"torchrun",
     "WORLD_SIZE",
     "RANK",
     "LOCAL_RANK",
     "LOCAL_WORLD_SIZE",
     {{"GROUP_RANK", "1"}, {"TORCHELASTIC_RUN_ID", "none"}, {"OMP_NUM_THREADS", "1"}}},
    {"mpirun",
     "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE",
     {{"OMPI_COMM_WORLD_NODE_RANK", "1"}}},
    {"srun",
     "SLURM_STEP_NUM_TASKS",
     "SLURM_PROCID",
     "SLURM_LOCALID",
     "",
     {{"SLURM_NTASKS", "8"}, {"SLURM_NODEID", "1"}, {"SLURM_STEP_ID", "0"}}},
};

class LauncherTest : public testing::TestWithParam<Example> {};

TEST_P(LauncherTest, says_which_process_this_is) {
  const auto launch = read_launch(GetParam().environment());
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->launcher, GetParam().launcher);
  EXPECT_EQ(launch->ranks, 8);
  EXPECT_EQ(launch->rank, 5);
  EXPECT_EQ(launch->local_rank, 1);
  EXPECT_EQ(launch->local_ranks.has_value(), !GetParam().local_ranks.empty());
  EXPECT_EQ(launch->local_ranks.value_or(4), 4);
  EXPECT_EQ(launch->master_address, "node-3.cluster");
  EXPECT_EQ(launch->master_port, 29500);
}

TEST_P(LauncherTest, of_one_process_is_none) {
  const Example& example = GetParam();
  Variables one = example.with(example.ranks, "1");
  one[example.rank] = one[example.local_rank] = "0";
  if (!example.local_ranks.empty()) one[example.local_ranks] = "1";
  one.erase("MASTER_ADDR");
  one.erase("MASTER_PORT");
  EXPECT_FALSE(read_launch(one));
}

TEST_P(LauncherTest, is_refused_where_a_number_is_garbage) {
  const Example& example = GetParam();
  const std::string last_local = example.local_ranks.empty() ? "7" : "3";
  const std::vector<std::pair<std::string, std::string>> integers = {
      {example.ranks, "an integer from 1 to 65536"},
      {example.rank, "an integer from 0 to 7"},
      {example.local_rank, "an integer from 0 to " + last_local},
      {"MASTER_PORT", "an integer from 1 to 65533"},
  };
  for (const auto& [name, allowed] : integers) {
    for (const std::string garbage :
         {"", " 1", "1 ", "+1", "-1", "01", "1.0", "1e0", "0x1", "one", "1\n", "65537", "100000000",
          "99999999999999999999", "\xff"}) {
      EXPECT_EQ(example.refusal(example.with(name, garbage)),
                example.message(name, "'" + garbage + "'", allowed));
    }
  }
}

TEST_P(LauncherTest, is_refused_where_ranks_are_out_of_range) {
  const Example& example = GetParam();
  EXPECT_EQ(example.refusal(example.with(example.rank, "8")),
            example.message(example.rank, "'8'", "an integer from 0 to 7"));
  EXPECT_EQ(example.refusal(example.with(example.ranks, "0")),
            example.message(example.ranks, "'0'", "an integer from 1 to 65536"));
  EXPECT_EQ(example.refusal(example.with(example.ranks, "5")),
            example.message(example.rank, "'5'", "an integer from 0 to 4"));
  if (example.local_ranks.empty()) return;
  EXPECT_EQ(example.refusal(example.with(example.local_rank, "4")),
            example.message(example.local_rank, "'4'", "an integer from 0 to 3"));
  EXPECT_EQ(example.refusal(example.with(example.local_ranks, "9")),
            example.message(example.local_ranks, "'9'", "an integer from 1 to 8"));
}

TEST_P(LauncherTest, is_refused_where_a_variable_is_missing) {
  const Example& example = GetParam();
  const std::string last_local = example.local_ranks.empty() ? "7" : "3";
  EXPECT_EQ(example.refusal(example.without(example.rank)),
            example.message(example.rank, "not set", "an integer from 0 to 7"));
  EXPECT_EQ(example.refusal(example.without(example.local_rank)),
            example.message(example.local_rank, "not set", "an integer from 0 to " + last_local));
  EXPECT_EQ(example.refusal(example.without("MASTER_PORT")),
            example.message("MASTER_PORT", "not set", "an integer from 1 to 65533"));
  EXPECT_EQ(example.refusal(example.without("MASTER_ADDR")),
            example.message("MASTER_ADDR", "not set", "the name of a machine, or its IP address"));
}

TEST_P(LauncherTest, is_refused_where_the_address_is_garbage) {
  const Example& example = GetParam();
  for (const std::string& garbage :
       {std::string(), std::string("a b"), std::string("tcp://node"), std::string("node\n"),
        std::string("n\xc3\xb6"), std::string("$(hostname)"), std::string(256, 'a')}) {
    EXPECT_EQ(example.refusal(example.with("MASTER_ADDR", garbage)),
              example.message("MASTER_ADDR", "'" + garbage + "'",
                              "the name of a machine, or its IP address"));
  }
  for (const std::string good : {"127.0.0.1", "::1", "fe80::1%eth0", "node_3", "a.b.c"}) {
    EXPECT_EQ(read_launch(example.with("MASTER_ADDR", good))->master_address, good);
  }
}

INSTANTIATE_TEST_SUITE_P(All, LauncherTest, testing::ValuesIn(kExamples),
                         [](const auto& test) { return test.param.launcher; });

TEST(Launchers, there_is_none_where_none_says_how_many_it_started) {
  EXPECT_FALSE(read_launch({}));
  EXPECT_FALSE(read_launch({{"MASTER_ADDR", "node"}, {"MASTER_PORT", "x"}, {"LOCAL_RANK", "y"}}));
  // The script of a Slurm job of four tasks.
  EXPECT_FALSE(read_launch({{"SLURM_JOB_ID", "7"},
                            {"SLURM_NTASKS", "4"},
                            {"SLURM_PROCID", "0"},
                            {"SLURM_LOCALID", "0"}}));
}

TEST(Launchers, within_one_another_the_innermost_counts) {
  Variables environment;
  for (auto outer = kExamples.rbegin(); outer != kExamples.rend(); ++outer) {
    const Variables more = outer->environment();
    environment.insert(more.begin(), more.end());
    EXPECT_EQ(read_launch(environment)->launcher, outer->launcher);
  }
}

}  // namespace
}  // namespace headroom
