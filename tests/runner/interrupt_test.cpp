// SPDX-License-Identifier: Apache-2.0
// Told to end at any moment, once or twice, a run ends as such and goes on where it was.
#include <gtest/gtest.h>

#include <array>
#include <csignal>

#include "tests/runner/program.h"
#include "tests/support/seeded.h"

namespace headroom {
namespace {

const std::string kSuiteToInterrupt = R"(suite: test
defaults: {model: {name: ok}, data: {name: digits}, train: {work_ms: 3}}
cases:
  - {name: vanilla}
  - {name: exact, techniques: [exact]}
  - {name: full, model: {name: out_of_memory}}
)";

class InterruptAtAnyMoment : public testing::Test {
 protected:
  Ended run_disturbed(const std::string& out, std::mt19937& random) const {
    constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
    Program program = start_program({"run", suite_, "--out", out, "--resume"});
    for (unsigned signals = 1 + random() % 2; signals > 0; --signals) {
      sleep_up_to(random, static_cast<unsigned>(time_.count()));
      program.send(kSignals[random() % kSignals.size()]);
    }
    return program.wait();
  }

  TemporaryFolder folder_;
  const std::string suite_ = folder_.write("suite.yaml", kSuiteToInterrupt);
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  const int whole_ = run_program({"run", suite_, "--out", folder_ / "whole"}).code;
  const std::chrono::microseconds time_ = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - begin_);
};

TEST_F(InterruptAtAnyMoment, costs_nothing_that_was_measured) {
  ASSERT_EQ(whole_, 0);
  const Rows rows = lasting_rows(folder_ / "whole");
  std::mt19937 random = seeded_random();
  for (int trial = 0; trial < 5; ++trial) {
    const std::string out = folder_ / ("out" + std::to_string(trial));
    Ended ended;
    // A signal that comes before the program looks for it ends it as any other program.
    do {
      ended = run_disturbed(out, random);
      ASSERT_TRUE(ended.code == 0 || ended.code == 130 || ended.signal != 0) << ended.err;
    } while (ended.code != 0);
    EXPECT_EQ(lasting_rows(out), rows) << "trial " << trial;
  }
}

}  // namespace
}  // namespace headroom
