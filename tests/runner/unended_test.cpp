// SPDX-License-Identifier: Apache-2.0
// A worker that not even SIGKILL ends.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "tests/runner/program.h"
#include "tests/support/held_at_exit.h"
#include "tests/support/launch.h"

namespace headroom {
namespace {

using Clock = std::chrono::steady_clock;

/// The worker of a program's case, once it has printed into that log; 0: it did not within 20 s.
pid_t worker_of(const Program& program, const std::string& log) {
  for (int tries = 0; tries < 2000; ++tries) {
    const auto children = program.workers();
    if (!children.empty() && !read_text(log).empty()) return children.front();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return 0;
}

void is_waited_for_once_and_ends_the_run() {
  const TemporaryFolder folder;
  const std::string suite =
      folder.write("suite.yaml", suite_of({"hang", "ok"}, "{silence_s: 2, case_s: 60}"));
  Program program = start_program({"run", suite, "--out", folder / "out"});
  const pid_t worker = worker_of(program, folder / "out/log/hang.log");
  ASSERT_GT(worker, 0);
  const auto start = Clock::now();
  {
    const HeldAtExit held(worker);
    if (!held.holds()) {
      program.send(SIGKILL);
      program.wait();
      GTEST_SKIP() << "processes can't be traced here";
    }
    const Ended ended = program.wait();
    // 2 s of silence, 30 s behind SIGKILL; each further wait would be 30 s more.
    EXPECT_LT(Clock::now() - start, std::chrono::seconds(55));
    EXPECT_TRUE(is_alive(worker));
    EXPECT_EQ(ended.code, 4);
    const std::string process = "its process " + std::to_string(worker);
    EXPECT_NE(ended.err.find("hang: " + process + " could not be ended"), std::string::npos)
        << ended.err;
    auto rows = read_rows(folder / "out");
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows["hang"]["status"], "timeout");
    EXPECT_EQ(rows["hang"]["reason"],
              "no message for 2 s in phase warm_up, step 2 of 3; SIGKILL did not end " + process);
  }
  EXPECT_TRUE(ends_soon(worker));
}

void of_an_agent_that_lost_its_runner_is_waited_for_once() {
  const TemporaryFolder folder;
  const std::string suite =
      folder.write("suite.yaml", suite_text(2, one_case("a", "hang"), "{silence_s: 90}"));
  const int port = free_port();
  const auto start_rank = [&](int rank) {
    return start_program({"run", suite, "--out", folder / "out"}, [&] {
      become_rank("torchrun", rank, 2, port);
      setenv("TEST_STORE", (folder / "store").c_str(), 1);
    });
  };
  Program runner = start_rank(0);
  Program agent = start_rank(1);
  const pid_t worker = worker_of(agent, folder / "out/log/a.rank1.log");
  ASSERT_GT(worker, 0);
  {
    const HeldAtExit held(worker);
    runner.send(SIGKILL);
    runner.wait();
    if (!held.holds()) {
      agent.wait();
      GTEST_SKIP() << "processes can't be traced here";
    }
    const auto start = Clock::now();
    EXPECT_EQ(agent.wait().code, 1);
    // 30 s behind SIGKILL; each further wait would be 30 s more.
    EXPECT_LT(Clock::now() - start, std::chrono::seconds(55));
    EXPECT_TRUE(is_alive(worker));
  }
  EXPECT_TRUE(ends_soon(worker));
}

void is_named_where_the_user_ends_the_run() {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", suite_of({"hang", "ok"}, "{silence_s: 90}"));
  Program program = start_program({"run", suite, "--out", folder / "out"});
  const pid_t worker = worker_of(program, folder / "out/log/hang.log");
  ASSERT_GT(worker, 0);
  {
    const HeldAtExit held(worker);
    if (!held.holds()) {
      program.send(SIGKILL);
      program.wait();
      GTEST_SKIP() << "processes can't be traced here";
    }
    program.send(SIGINT);
    const Ended ended = program.wait();  // 5 s to end, and 30 s behind SIGKILL
    EXPECT_EQ(ended.code, 130);
    EXPECT_NE(
        ended.err.find("hang: its process " + std::to_string(worker) + " could not be ended\n"),
        std::string::npos)
        << ended.err;
    EXPECT_TRUE(read_rows(folder / "out").empty());
  }
  EXPECT_TRUE(ends_soon(worker));
}

// Side by side, as each waits for half a minute.
TEST(Unended, worker_is_waited_for_once_and_named) {
  std::jthread of_a_run(is_waited_for_once_and_ends_the_run);
  std::jthread of_an_agent(of_an_agent_that_lost_its_runner_is_waited_for_once);
  std::jthread of_an_interrupted_run(is_named_where_the_user_ends_the_run);
}

}  // namespace
}  // namespace headroom
