// SPDX-License-Identifier: Apache-2.0
// Whatever a worker does, its case becomes one row, and the next case is measured.
#include "src/runner/outcome.h"

#include <gtest/gtest.h>

#include <chrono>

#include "tests/runner/program.h"

namespace headroom {
namespace {

struct Expected {
  std::string behaviour;
  std::string status;
  std::string reason;  // a part of it
};

const std::vector<Expected> kExpected = {
    {"ok", "ok", ""},
    {"segv", "crashed", "by signal 11"},
    {"abort", "crashed", "by signal 6"},
    {"exit_3", "crashed", "with exit status 3 in phase warm_up, step 2 of 3, with no record"},
    {"killed", "crashed", "by signal 9"},
    {"no_record", "crashed", "with exit status 0"},
    {"wrong_nonce", "failed", "wrong nonce"},
    {"two_records", "failed", "two records"},
    {"flood_messages", "failed", "a message after its record"},
    {"broken_json", "failed", "no JSON"},
    {"spew_messages", "failed", "more than 4 MiB"},
    {"long_record", "ok", ""},
    {"unknown_column", "failed", "\"luck\""},
    {"wrong_type", "failed", "no valid value of parameters"},
    {"negative_peak", "failed", "negative run_peak_allocated_bytes"},
    {"zero_time", "failed", "a step_time_median_ns of 0 or below"},
    {"zero_step", "failed", "a step that took 0 ns"},
    {"peaks_in_wrong_order", "failed",
     "a init_peak_allocated_bytes of 1099511627776, which is above its run_peak_allocated_bytes of "
     "8000000"},
    {"peak_above_memory", "failed", "a peak of 8000000 bytes, and its device has 1000000"},
    {"unknown_status", "failed", "no valid status"},
    {"nan_loss", "incorrect", "not finite"},
    {"out_of_memory", "out_of_memory", "1 GiB asked, 0 free"},
    {"unsupported", "unsupported", ""},
    {"inactive", "inactive", ""},
    {"failed", "failed", ""},
    {"grandchild", "ok", ""},
    {"spew_output", "ok", ""},
    {"late_crash", "ok", "by signal 11 (Segmentation fault) after its record"},
    {"out_of_memory_then_crash", "out_of_memory",
     "1 GiB asked, 0 free; the worker ended by signal 11 (Segmentation fault) after its record"},
};

TEST(Outcome, of_every_behaviour_is_one_row) {
  const TemporaryFolder folder;
  std::vector<std::string> behaviours;
  for (const Expected& expected : kExpected) behaviours.push_back(expected.behaviour);
  const std::string suite =
      folder.write("suite.yaml", suite_of(behaviours, "{silence_s: 20, case_s: 60}"));
  const Ended ended = run_program({"run", suite, "--out", folder / "out"});
  EXPECT_EQ(ended.code, 1) << ended.err;
  const Rows rows = read_rows(folder / "out");
  ASSERT_EQ(rows.size(), kExpected.size());
  for (const Expected& expected : kExpected) {
    SCOPED_TRACE(expected.behaviour);
    auto row = rows.at(expected.behaviour);
    EXPECT_EQ(row["status"], expected.status);
    EXPECT_NE(row["reason"].find(expected.reason), std::string::npos) << row["reason"];
    for (const char* column : {"run_peak_allocated_bytes", "first_loss", "step_time_median_ns"}) {
      EXPECT_EQ(row[column].empty(), expected.status != "ok") << column;
    }
    EXPECT_EQ(row["batch_size"], "8");
  }
  EXPECT_LT(std::filesystem::file_size(folder / "out/log/spew_output.log"), 1'100'000U);
}

TEST(Outcome, leaves_no_process_behind) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", suite_of({"grandchild"}, "{silence_s: 20}"));
  EXPECT_EQ(run_program({"run", suite, "--out", folder / "out"}).code, 0);
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    EXPECT_FALSE(read_text(entry.path() / "comm").starts_with("left_behind")) << entry.path();
  }
}

TEST(Outcome, of_a_worker_shows_that_it_starts_clean) {
  const TemporaryFolder folder;
  const std::string suite =
      folder.write("suite.yaml", suite_of({"look_around"}, "{silence_s: 20}"));
  run_program({"run", suite, "--out", folder / "out"});
  EXPECT_EQ(read_rows(folder / "out").at("look_around")["reason"], "0 1 2 3 plain leader");
}

class Hang : public testing::TestWithParam<Expected> {};

TEST_P(Hang, ends_as_timeout_in_bounded_time) {
  const TemporaryFolder folder;
  const std::string suite =
      folder.write("suite.yaml", suite_of({GetParam().behaviour}, "{silence_s: 1, case_s: 2}"));
  const auto start = std::chrono::steady_clock::now();
  run_program({"run", suite, "--out", folder / "out"});
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(12));
  auto row = read_rows(folder / "out").at(GetParam().behaviour);
  EXPECT_EQ(row["status"], GetParam().status);
  EXPECT_EQ(row["reason"], GetParam().reason);
}

INSTANTIATE_TEST_SUITE_P(
    Matrix, Hang,
    testing::Values(Expected{"hang", "timeout", "no message for 1 s in phase warm_up, step 2 of 3"},
                    Expected{"hang_ignoring_term", "timeout",
                             "no message for 1 s in phase warm_up, step 2 of 3"},
                    Expected{"stop", "timeout", "no message for 1 s in phase warm_up, step 2 of 3"},
                    Expected{"late_hang", "ok", "the worker did not end after its record"}),
    [](const auto& test) { return test.param.behaviour; });

TEST(Outcome, of_a_worker_that_talks_for_ever_is_timeout) {
  const TemporaryFolder folder;
  const std::string suite =
      folder.write("suite.yaml", suite_of({"chatter"}, "{silence_s: 1, case_s: 2}"));
  run_program({"run", suite, "--out", folder / "out"});
  auto row = read_rows(folder / "out").at("chatter");
  EXPECT_EQ(row["status"], "timeout");
  EXPECT_TRUE(row["reason"].starts_with("not done after 2 s in phase warm_up")) << row["reason"];
}

TEST(Outcome, of_what_can_not_run_here_needs_no_worker) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", R"(suite: test
defaults: {model: {name: abort}, data: {name: digits}}
cases:
  - {name: pair, techniques: [exact, hermit]}
  - {name: pair_turned, techniques: [hermit, exact]}
)");
  const Ended ended = run_program({"run", suite, "--out", folder / "out"});
  EXPECT_EQ(ended.code, 4) << ended.err;  // there was nothing that could run
  Rows rows = read_rows(folder / "out");
  for (const auto& [name, row] : rows) EXPECT_EQ(row.at("status"), "unsupported");
  EXPECT_EQ(rows["pair"]["reason"], "exact and hermit exclude each other");
  EXPECT_EQ(rows["pair_turned"]["reason"], "hermit and exact exclude each other");
  EXPECT_TRUE(std::filesystem::is_empty(folder / "out/log"));
}

}  // namespace
}  // namespace headroom
