// SPDX-License-Identifier: Apache-2.0
// Killed at any moment, a rank takes its case with it, and nothing else.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <random>
#include <thread>

#include "tests/runner/program.h"

namespace headroom {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRankKills = 40;
constexpr int kAtOnce = 10;  // a case whose ranks wait for the lost one takes its second

std::string suite_of_one(int ranks, const std::string& model, int work_ms) {
  return "suite: test\ndefaults: {ranks: " + std::to_string(ranks) +
         ", data: {name: digits}, train: {work_ms: " + std::to_string(work_ms) +
         "}}\ncases:\n  - {name: a, model: {name: " + model + "}, techniques: [ddp]}\n";
}

/// The workers of a run, by rank, once there are so many of them.
std::vector<pid_t> workers_of(const Program& program, std::size_t count) {
  for (;;) {
    const std::vector<pid_t> workers = program.workers();  // in the order of their starts
    if (workers.size() >= count) return workers;
    std::this_thread::yield();
  }
}

/// A run of which one rank is killed.
struct Trial {
  TemporaryFolder folder;
  int ranks;
  int rank;
  std::string out = folder / "out";
  Program program;
  std::vector<pid_t> workers;
  Clock::time_point killed_at;

  explicit Trial(std::mt19937& random)
      : ranks(random() % 2 == 0 ? 2 : 4),
        rank(static_cast<int>(random() % static_cast<unsigned>(ranks))),
        program(start(random() % 2 == 0 ? "together" : "together_hang")) {
    const bool is_early = random() % 4 == 0;  // while others are not there yet
    workers = workers_of(program, static_cast<std::size_t>(is_early ? rank + 1 : ranks));
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));
    kill(workers[static_cast<std::size_t>(rank)], SIGKILL);
    killed_at = Clock::now();
  }

  Program start(const std::string& model) const {
    const std::string suite = folder.write("suite.yaml", suite_of_one(ranks, model, 10));
    // The leak sanitizer looks on from a child of its own, and waits for ever where that is killed.
    return start_program({"run", suite, "--out", out},
                         [] { setenv("ASAN_OPTIONS", "detect_leaks=0", 1); });
  }

  /// Whether the case had come to its end before the kill.
  bool expect_rank_named() {
    program.wait();
    EXPECT_LT(Clock::now() - killed_at, std::chrono::seconds(5));
    auto row = read_rows(out).at("a");
    if (row["status"] == "ok") return true;
    EXPECT_EQ(row["status"], "crashed");
    EXPECT_TRUE(row["reason"].starts_with("rank " + std::to_string(rank) + " of " +
                                          std::to_string(ranks) +
                                          ": the worker ended by signal 9 (Killed) in phase "))
        << row["reason"];
    for (const pid_t worker : workers) EXPECT_FALSE(is_alive(worker));
    return false;
  }
};

TEST(RankKill, of_any_rank_at_any_time_is_one_row_that_names_it) {
  std::mt19937 random(13);
  int late = 0;
  for (int kills = 0; kills < kRankKills; kills += kAtOnce) {
    std::vector<std::unique_ptr<Trial>> trials;
    for (int i = 0; i < kAtOnce; ++i) trials.push_back(std::make_unique<Trial>(random));
    for (const auto& trial : trials) late += trial->expect_rank_named() ? 1 : 0;
  }
  EXPECT_LT(late, kRankKills / 4);  // else the kills would prove little
}

TEST(RankKill, of_the_runner_ends_all_ranks) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", suite_of_one(4, "hang_ignoring_term", 0));
  // Who is killed leaves the store behind.
  Program program = start_program({"run", suite, "--out", folder / "out"},
                                  [&] { setenv("TMPDIR", folder.path().c_str(), 1); });
  const std::vector<pid_t> workers = workers_of(program, 4);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  program.send(SIGKILL);
  program.wait();
  for (const pid_t worker : workers) {
    EXPECT_TRUE(ends_soon(worker));
  }
}

class RankInterrupt : public testing::TestWithParam<int> {};

TEST_P(RankInterrupt, ends_all_ranks_and_leaves_no_row) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", suite_of_one(4, "hang", 0));
  Program program = start_program({"run", suite, "--out", folder / "out"});
  const std::vector<pid_t> workers = workers_of(program, 4);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const auto start = Clock::now();
  program.send(GetParam());
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 130) << ended.err;
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(2));
  EXPECT_TRUE(read_rows(folder / "out").empty());
  for (const pid_t worker : workers) EXPECT_FALSE(is_alive(worker));
}

INSTANTIATE_TEST_SUITE_P(Signals, RankInterrupt, testing::Values(SIGINT, SIGTERM, SIGHUP));

TEST(RankInterruptTwice, kills_ranks_that_do_not_want_to_end) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", suite_of_one(4, "hang_ignoring_term", 0));
  Program program = start_program({"run", suite, "--out", folder / "out"});
  const std::vector<pid_t> workers = workers_of(program, 4);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const auto start = Clock::now();
  program.send(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  program.send(SIGINT);
  EXPECT_EQ(program.wait().code, 130);
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(3));
  for (const pid_t worker : workers) EXPECT_FALSE(is_alive(worker));
}

}  // namespace
}  // namespace headroom
