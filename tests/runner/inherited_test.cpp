// SPDX-License-Identifier: Apache-2.0
// What a run inherits from whoever started it does it no harm, and comes to no harm.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "tests/runner/program.h"

namespace headroom {
namespace {

const std::string kOneCase = suite_of({"ok"}, "{silence_s: 20}");
const std::string kSlowSuite = kOneCase + "matrix: {train.work_ms: [500]}\n";

/// Starts a program that sleeps, and writes its number into a file.
pid_t start_sleeper(const std::string& file) {
  const pid_t child = fork();
  if (child == 0) {
    close(STDOUT_FILENO);
    execl("/bin/sleep", "sleep", "60", nullptr);
    _exit(127);
  }
  const std::string number = std::to_string(child);
  const int opened = open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  [[maybe_unused]] const ssize_t ignored = write(opened, number.data(), number.size());
  close(opened);
  return child;
}

TEST(Inherited, children_and_what_they_leave_go_on) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", kSlowSuite);
  const Ended ended = run_program({"run", suite, "--out", folder / "out"}, [&] {
    start_sleeper(folder / "child");
    if (fork() != 0) return;
    start_sleeper(folder / "grandchild");
    std::this_thread::sleep_for(std::chrono::milliseconds(250));  // it ends while the worker works
    _exit(0);
  });
  EXPECT_EQ(ended.code, 0) << ended.err;
  for (const char* name : {"child", "grandchild"}) {
    const pid_t sleeper = std::stoi(read_text(folder / name));
    EXPECT_TRUE(is_alive(sleeper)) << name;
    kill(sleeper, SIGKILL);
  }
}

class Closed : public testing::TestWithParam<std::vector<int>> {};

TEST_P(Closed, descriptors_cost_no_results) {
  const TemporaryFolder folder;
  const std::vector<std::string> call = {"run", folder.write("suite.yaml", kOneCase), "--out",
                                         folder / "out", "--resume"};
  const Ended ended = run_program(call, [] {
    for (const int descriptor : GetParam()) close(descriptor);
  });
  EXPECT_EQ(ended.code, 0);
  const Ended resumed = run_program(call);
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(read_rows(folder / "out").at("ok")["status"], "ok");
}

INSTANTIATE_TEST_SUITE_P(Descriptors, Closed,
                         testing::Values(std::vector{0, 2}, std::vector{1, 2},
                                         std::vector{0, 1, 2}));

class Ignored : public testing::TestWithParam<int> {};

TEST_P(Ignored, signals_stay_without_effect) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", kSlowSuite);
  Program program = start_program({"run", suite, "--out", folder / "out"},
                                  [] { std::signal(GetParam(), SIG_IGN); });
  while (is_alive(program.pid()) && program.workers().empty()) std::this_thread::yield();
  program.send(GetParam());
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
}

INSTANTIATE_TEST_SUITE_P(Signals, Ignored, testing::Values(SIGINT, SIGTERM, SIGHUP, SIGCHLD));

}  // namespace
}  // namespace headroom
