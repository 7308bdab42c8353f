// SPDX-License-Identifier: Apache-2.0
// Nobody reads what a run says: it goes on, and its limits hold.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

#include "tests/runner/program.h"
#include "tests/support/blocked.h"

namespace headroom {
namespace {

/// How a program ends that must end soon; it is killed where it does not.
Ended end_of(Program&& program) {
  for (int tries = 0; is_alive(program.pid()) && tries < 1000; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  program.send(SIGKILL);
  return program.wait();
}

/// A run whose standard error is that: a case is ended by a limit all the same.
void expect_limits_hold(int standard_error) {
  const TemporaryFolder folder;
  const std::string suite =
      folder.write("suite.yaml", suite_of({"chatter", "ok"}, "{case_s: 1, silence_s: 1}"));
  const Ended ended = end_of(start_program({"run", suite, "--out", folder / "out"},
                                           [&] { dup2(standard_error, STDERR_FILENO); }));
  ASSERT_EQ(ended.code, 1);
  EXPECT_EQ(read_rows(folder / "out").at("chatter")["status"], "timeout");
  EXPECT_EQ(read_rows(folder / "out").at("ok")["status"], "ok");
}

TEST(Blocked, pipe_holds_no_run_up) { expect_limits_hold(FullPipe().to_write()); }

TEST(Blocked, terminal_holds_no_run_up) {
  const UnreadTerminal stopped;
  stopped.stop();
  expect_limits_hold(stopped.to_write());
  expect_limits_hold(UnreadTerminal().to_write());
}

/// A run whose standard error is that, and whose worker talks: each signal ends it all the same.
void expect_signals_end(int standard_error) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const TemporaryFolder folder;
    const std::string suite = folder.write("suite.yaml", suite_of({"ok", "chatter"}, "{}"));
    const std::string out = folder / "out";
    Program program =
        start_program({"run", suite, "--out", out}, [&] { dup2(standard_error, STDERR_FILENO); });
    while (is_alive(program.pid()) && read_text(out + "/log/chatter.log").empty()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    program.send(signal);
    EXPECT_EQ(end_of(std::move(program)).code, 130) << strsignal(signal);
    EXPECT_EQ(read_rows(out).size(), 1U);
  }
}

TEST(Blocked, pipe_keeps_no_signal_from_ending_a_run) { expect_signals_end(FullPipe().to_write()); }

TEST(Blocked, terminal_keeps_no_signal_from_ending_a_run) {
  const UnreadTerminal stopped;
  stopped.stop();
  expect_signals_end(stopped.to_write());
}

TEST(Blocked, pipe_holds_no_error_up) {
  const FullPipe pipe;
  const auto prepare = [&] { dup2(pipe.to_write(), STDERR_FILENO); };
  EXPECT_EQ(end_of(start_program({"run", "/nowhere.yaml"}, prepare)).code, 2);
}

}  // namespace
}  // namespace headroom
