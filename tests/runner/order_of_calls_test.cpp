// SPDX-License-Identifier: Apache-2.0
// Once the status of a process is taken, its number may be another process's: no signal goes there.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "tests/runner/program.h"

namespace headroom {
namespace {

/// What a run called, in its order; see call_log.cpp.
struct Calls {
  int signals = 0;
  std::set<pid_t> started;
  std::set<pid_t> taken;         // whose status was taken, and who were not started again since
  std::vector<pid_t> strangers;  // who got a signal behind that

  explicit Calls(const std::string& path) {
    std::ifstream file(path);
    std::string what;
    for (pid_t process = 0; file >> what >> process;) {
      if (what == "start") {
        started.insert(process);
        taken.erase(process);
      } else if (what == "take") {
        taken.insert(process);
      } else {
        ++signals;
        if (taken.contains(process)) strangers.push_back(process);
      }
    }
  }
};

Calls calls_of(const std::string& suite_text) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", suite_text);
  const Ended ended = run_program({"run", suite, "--out", folder / "out"}, [&] {
    setenv("LD_PRELOAD", HEADROOM_BUILD_DIR "/tests/runner/libheadroom_call_log.so", 1);
    setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 1);
    setenv("TEST_CALL_LOG", (folder / "calls").c_str(), 1);
  });
  EXPECT_EQ(ended.code, 1) << ended.err;
  return Calls(folder / "calls");
}

TEST(OrderOfCalls, sends_no_signal_to_a_number_that_is_free_again) {
  const Calls calls = calls_of(suite_of(
      {"ok", "segv", "exit_3", "grandchild", "hang", "stop", "late_hang", "two_records", "killed"},
      "{silence_s: 1, case_s: 2}"));
  EXPECT_EQ(calls.started.size(), 1 + 9U);  // first the loader, which names the worker's libraries
  EXPECT_GE(calls.signals, 18);             // to each group and each worker
  EXPECT_TRUE(calls.strangers.empty());
  for (const pid_t worker : calls.started) EXPECT_TRUE(calls.taken.contains(worker)) << worker;
}

TEST(OrderOfCalls, of_several_ranks_is_the_same) {
  const Calls calls =
      calls_of(suite_text(4, one_case("a", "together") + one_case("b", "segv, on_rank: 2") +
                                 one_case("c", "grandchild")));
  EXPECT_EQ(calls.started.size(), 1 + 12U);
  EXPECT_GE(calls.signals, 24);
  EXPECT_TRUE(calls.strangers.empty());
  for (const pid_t worker : calls.started) EXPECT_TRUE(calls.taken.contains(worker)) << worker;
}

}  // namespace
}  // namespace headroom
