// SPDX-License-Identifier: Apache-2.0
#include "src/report/repeated_case.h"

#include <gtest/gtest.h>

#include "src/core/error.h"
#include "tests/report/results_of.h"

namespace headroom {
namespace {

TEST(RepeatedCase, gathers_the_results_of_one_suite_kind_and_device) {
  const Results first = results_of("s", {ok_case("a", 10, 1), ok_case("b", 20, 1)});
  const Results second = results_of("s", {ok_case("b", 30, 1)}, {"a"});
  Results plan = first;
  plan.header["kind"] = "planned";
  plan.header["device"] = "h200";
  const std::vector<Results> all = {first, second, plan};
  const auto cases = repeated_cases(all);
  ASSERT_EQ(cases.size(), 4U);
  EXPECT_EQ(cases[0].path(), "s/cpu/a");
  EXPECT_EQ(cases[0].repeats.size(), 1U);
  EXPECT_EQ(cases[0].not_done, 1U);
  EXPECT_EQ(cases[1].figures("run_peak_allocated_bytes"), (std::vector<double>{20, 30}));
  EXPECT_EQ(cases[1].figures("driver_peak_bytes"), std::vector<double>{});
  EXPECT_EQ(cases[2].path(), "s/planned_h200/a");
}

TEST(RepeatedCase, ends_as_the_worst_of_its_repeats) {
  const auto ending = [](const std::vector<Results>& all) {
    const RepeatedCase one = repeated_cases(all).front();
    return (one.is_ok() ? "is ok; " : "") + one.ending();
  };
  const Results fine = results_of("s", {ok_case("a", 10, 1)});
  const Results large = results_of("s", {ended_case("a", "out_of_memory", "too large")});
  const Results gone = results_of("s", {ended_case("a", "crashed", "signal 11")});
  const Results not_done = results_of("s", {}, {"a"});
  EXPECT_EQ(ending({fine, fine}), "is ok; ok");
  EXPECT_EQ(ending({fine, large}), "out_of_memory: too large");
  EXPECT_EQ(ending({large, gone, fine}), "crashed: signal 11");
  EXPECT_EQ(ending({not_done, fine}), "not done");
  EXPECT_EQ(ending({not_done, gone}), "crashed: signal 11");
  EXPECT_EQ(ending({not_done}), "not done");
}

TEST(RepeatedCase, is_not_made_of_other_work) {
  const Results first = results_of("s", {ok_case("a", 10, 1)});
  Results other = first;
  other.journal = "other/journal.jsonl";
  other.header["cases"]["a"]["model"]["name"] = "another";
  try {
    repeated_cases({first, other});
    FAIL() << "taken for repeats";
  } catch (const ResultsError& error) {
    EXPECT_EQ(std::string(error.what()),
              "other/journal.jsonl: the case a is other work than in out/s/journal.jsonl, so they "
              "are no repeats; export them one by one");
  }
}

}  // namespace
}  // namespace headroom
