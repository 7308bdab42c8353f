// SPDX-License-Identifier: Apache-2.0
// Killed at any moment and resumed, a run gives what an undisturbed one gives.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <random>
#include <thread>

#include "tests/runner/program.h"

namespace headroom {
namespace {

constexpr int kKills = 60;  // on a disk; tests/campaign/kills.py tries thousands in memory

const std::string kSuiteToKill = R"(suite: test
defaults: {model: {name: ok}, data: {name: digits}, train: {work_ms: 3}}
cases:
  - {name: vanilla}
  - {name: segv, model: {name: segv}}
  - {name: exact, techniques: [exact]}
  - {name: shifted, techniques: [{exact: {loss_shift: 1.0}}]}
  - {name: full, model: {name: out_of_memory}}
)";

void sleep_up_to(std::mt19937& random, int microseconds) {
  std::this_thread::sleep_for(
      std::chrono::microseconds(random() % static_cast<unsigned>(microseconds)));
}

struct Baseline {
  TemporaryFolder folder;
  std::string suite = folder.write("suite.yaml", kSuiteToKill);
  std::chrono::microseconds time{};
  Rows rows;

  Baseline() {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(run_program({"run", suite, "--out", folder / "whole"}).code, 1);
    time = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() -
                                                                 start);
    rows = lasting_rows(folder / "whole");
    const std::map<std::string, std::string> statuses = {{"vanilla", "ok"},
                                                         {"segv", "crashed"},
                                                         {"exact", "ok"},
                                                         {"shifted", "incorrect"},
                                                         {"full", "out_of_memory"}};
    for (const auto& [name, status] : statuses) EXPECT_EQ(rows.at(name).at("status"), status);
  }
};

TEST(Kill, of_the_runner_costs_nothing_that_was_measured) {
  const Baseline baseline;
  std::mt19937 random(11);
  int trial = 0;
  for (int kills = 0; kills < kKills; ++trial) {
    const std::string out = baseline.folder / ("out" + std::to_string(trial));
    for (bool done = false; !done;) {
      Program program = start_program({"run", baseline.suite, "--out", out, "--resume"});
      sleep_up_to(random, static_cast<int>(baseline.time.count()));
      program.send(SIGKILL);
      const Ended ended = program.wait();
      done = ended.signal == 0;
      ASSERT_TRUE(!done || ended.code == 1) << ended.err;
      kills += done ? 0 : 1;
    }
    ASSERT_EQ(lasting_rows(out), baseline.rows) << "trial " << trial;
    ASSERT_EQ(std::distance(std::filesystem::directory_iterator(out), {}), 4)
        << "journal.jsonl, results.csv, suite.yaml, log";
    std::filesystem::remove_all(out);
  }
}

TEST(Kill, of_a_worker_is_one_crashed_row) {
  const Baseline baseline;
  std::mt19937 random(12);
  for (int trial = 0; trial < 10; ++trial) {
    const std::string out = baseline.folder / ("out" + std::to_string(trial));
    // The leak sanitizer looks on from a child of its own, and waits for ever where that is killed.
    Program program = start_program({"run", baseline.suite, "--out", out},
                                    [] { setenv("ASAN_OPTIONS", "detect_leaks=0", 1); });
    sleep_up_to(random, static_cast<int>(baseline.time.count()));
    const std::vector<pid_t> workers = program.workers();
    for (const pid_t worker : workers) kill(worker, SIGKILL);
    ASSERT_EQ(program.wait().code, 1);
    std::size_t others = 0;
    for (const auto& [name, row] : lasting_rows(out)) {
      // Without its reference `shifted` is not found out.
      const bool is_other = row != baseline.rows.at(name) && name != "shifted";
      if (!is_other) continue;
      // A record that came before the kill stays a record.
      const bool is_late = row.at("reason").ends_with("after its record");
      EXPECT_EQ(row.at("status"), is_late ? "ok" : "crashed");
      ++others;
    }
    EXPECT_LE(others, workers.size());
  }
}

TEST(Kill, of_the_runner_ends_the_worker) {
  const TemporaryFolder folder;
  const std::string suite =
      folder.write("suite.yaml", suite_of({"hang_ignoring_term"}, "{silence_s: 600}"));
  Program program = start_program({"run", suite, "--out", folder / "out"});
  std::vector<pid_t> workers;
  while (workers.empty()) workers = program.workers();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  program.send(SIGKILL);
  program.wait();
  EXPECT_TRUE(ends_soon(workers[0]));
}

class Interrupt : public testing::TestWithParam<int> {};

TEST_P(Interrupt, keeps_what_is_done_and_says_how_to_go_on) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", suite_of({"ok", "hang"}, "{silence_s: 2}"));
  const std::string out = folder / "out";
  Program program = start_program({"run", suite, "--out", out});
  const auto is_done = [&] {
    return read_text(out + "/results.csv").find("ok") != std::string::npos;
  };
  while (!is_done()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  program.send(GetParam());
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 130);
  EXPECT_NE(ended.err.find("--resume and --out " + out), std::string::npos) << ended.err;
  EXPECT_EQ(read_rows(out).size(), 1U);

  const Ended resumed = run_program({"run", suite, "--out", out, "--resume"});
  EXPECT_EQ(resumed.code, 1) << resumed.err;
  EXPECT_EQ(read_rows(out).size(), 2U);
  EXPECT_EQ(read_rows(out).at("hang")["status"], "timeout");
}

INSTANTIATE_TEST_SUITE_P(Signals, Interrupt, testing::Values(SIGINT, SIGTERM, SIGHUP));

TEST(InterruptAfterRecord, blames_no_worker) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", suite_of({"late_hang"}, "{silence_s: 600}"));
  Program program = start_program({"run", suite, "--out", folder / "out"});
  while (!read_text(folder / "out/log/late_hang.log").ends_with("answered\n")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  program.send(SIGINT);
  EXPECT_EQ(program.wait().code, 130);
  auto row = read_rows(folder / "out").at("late_hang");
  EXPECT_EQ(row["status"], "ok");
  EXPECT_EQ(row["reason"], "");
}

TEST(InterruptTwice, kills_a_worker_that_does_not_want_to_end) {
  const TemporaryFolder folder;
  const std::string suite =
      folder.write("suite.yaml", suite_of({"hang_ignoring_term"}, "{silence_s: 600}"));
  Program program = start_program({"run", suite, "--out", folder / "out"});
  while (program.workers().empty()) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const auto start = std::chrono::steady_clock::now();
  program.send(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  program.send(SIGINT);
  EXPECT_EQ(program.wait().code, 130);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(3));
}

}  // namespace
}  // namespace headroom
