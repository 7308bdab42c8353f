// SPDX-License-Identifier: Apache-2.0
// `headroom fit` where it is interrupted, killed, or a call of the system is: the user's file is
// the old one or the new one.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/core/messages.h"
#include "tests/runner/program.h"

namespace headroom {
namespace {

constexpr const char* kUsersFile = "what was there before\n";

/// A suite whose one case the test worker plans as `behaviour` says. Fit tries no larger batch.
std::string planned_suite(const std::string& behaviour) {
  return "suite: test\ncases: [{name: a, model: {name: " + behaviour +
         "}, data: {name: digits}, train: {batch_size: 512}}]\n";
}

class FitCommand : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(HEADROOM_BUILD_DIR "/dry_run/libcuda.so.1")) {
      GTEST_SKIP() << "this build has no dry run";
    }
  }
  Program start(const std::string& behaviour, const std::string& fault = "") const {
    const std::string suite = folder_.write("suite.yaml", planned_suite(behaviour));
    return start_program({"fit", suite, "--out", out_}, [&] {
      setenv("TEST_CUDA", "1", 1);
      if (fault.empty()) return;
      setenv("FAILING_CALLS", ("headroom_with_test_catalog - " + fault).c_str(), 1);
      setenv("LD_PRELOAD", HEADROOM_BUILD_DIR "/failing_calls.so", 1);
      setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 1);  // its library is not the first then
    });
  }
  /// The suite that it wrote, where it ended as it should.
  std::string written() const {
    const Ended ended = start("dry").wait();
    EXPECT_EQ(ended.code, 0) << ended.err;
    return read_text(out_);
  }

  const TemporaryFolder folder_;
  const std::string out_ = folder_.write("fit.yaml", kUsersFile);
};

class InterruptedFit : public FitCommand, public testing::WithParamInterface<int> {};

TEST_P(InterruptedFit, writes_nothing_and_leaves_no_worker) {
  Program program = start("hang");
  std::vector<pid_t> workers;
  while (workers.empty() && is_alive(program.pid())) workers = program.workers();
  ASSERT_FALSE(workers.empty()) << program.wait().err;
  program.send(GetParam());
  EXPECT_EQ(program.wait().code, 130);
  EXPECT_TRUE(ends_soon(workers[0]));
  EXPECT_EQ(read_text(out_), kUsersFile);
}

INSTANTIATE_TEST_SUITE_P(Signals, InterruptedFit, testing::Values(SIGINT, SIGTERM, SIGHUP));

TEST_F(FitCommand, that_is_killed_leaves_the_users_file_or_a_whole_new_one) {
  const std::string whole = written();
  ASSERT_NE(whole.find("suite: \"test_fit\""), std::string::npos) << whole;
  for (const std::string call : {"mkostemp:1", "write:5", "fchmod:1", "fsync:1", "rename:1"}) {
    for (const std::string action : {":kill", ":kill_after"}) {
      folder_.write("fit.yaml", kUsersFile);
      EXPECT_EQ(start("dry", call + action).wait().signal, SIGKILL) << call << action;
      const std::string left = read_text(out_);
      EXPECT_TRUE(left == kUsersFile || left == whole) << call << action << ": " << left;
      EXPECT_EQ(written(), whole);
      EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 3)
          << "suite.yaml, fit.yaml, fit.yaml.log";
    }
  }
}

TEST_F(FitCommand, asks_for_no_more_samples_than_the_ranks_share) {
  const std::string suite =
      folder_.write("suite.yaml",
                    "suite: test\ncases: [{name: a, ranks: 2, model: {name: dry}, "
                    "data: {name: digits, samples: 12}, train: {batch_size: 2}}]\n");
  const Ended ended = start_program({"fit", suite, "--out", out_, "--json"}, [] {
                        setenv("TEST_CUDA", "1", 1);
                      }).wait();
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(nlohmann::json::parse(ended.out).at("answer").at("largest_micro_batch"), 6);
}

TEST_F(FitCommand, finds_nothing_where_no_dry_run_left_a_report) {
  const Ended ended = start("ok").wait();
  EXPECT_EQ(ended.code, 1) << ended.err;
  EXPECT_TRUE(contains(ended.err, "failed: its dry run left no report")) << ended.err;
  EXPECT_EQ(read_text(out_), kUsersFile);
}

TEST_F(FitCommand, goes_on_behind_calls_that_a_signal_interrupted) {
  const std::string whole = written();
  for (const std::string call : {"open", "ftruncate", "write", "fsync", "poll", "close"}) {
    for (int number = 1; number <= 4; ++number) {
      const std::string fault = call + ":" + std::to_string(number) + ":EINTR";
      const Ended ended = start("dry", fault).wait();
      EXPECT_EQ(ended.code, 0) << fault << ": " << ended.err;
      EXPECT_EQ(read_text(out_), whole) << fault;
    }
  }
}

}  // namespace
}  // namespace headroom
