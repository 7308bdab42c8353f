// SPDX-License-Identifier: Apache-2.0
// The runner and its worker are stopped and go on, as where a container is frozen.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "tests/runner/program.h"

namespace headroom {
namespace {

using namespace std::chrono_literals;

/// The row of a case whose runner and worker are stopped for longer than the worker may be silent;
/// the runner goes on first.
std::map<std::string, std::string> row_after_pause(const std::string& behaviour) {
  const TemporaryFolder folder;
  const std::string suite =
      folder.write("suite.yaml",
                   "suite: test\ndefaults: {data: {name: digits}, limits: {silence_s: 1}}\n"
                   "cases: [{name: a, model: {name: " +
                       behaviour + "}, train: {work_ms: 500}}]\n");
  Program program = start_program({"run", suite, "--out", folder / "out"});
  while (read_text(folder / "out/log/a.log").empty()) std::this_thread::sleep_for(5ms);
  const pid_t worker = program.workers().at(0);
  program.send(SIGSTOP);
  kill(worker, SIGSTOP);
  std::this_thread::sleep_for(1300ms);
  program.send(SIGCONT);
  std::this_thread::sleep_for(200ms);
  kill(worker, SIGCONT);
  program.wait();
  return read_rows(folder / "out").at("a");
}

TEST(Pause, of_the_runner_is_no_silence_of_its_worker) {
  auto row = row_after_pause("ok");
  EXPECT_EQ(row["status"], "ok") << row["reason"];
}

TEST(Pause, does_not_save_a_worker_that_hangs) {
  auto row = row_after_pause("hang");
  EXPECT_EQ(row["status"], "timeout") << row["reason"];
}

}  // namespace
}  // namespace headroom
