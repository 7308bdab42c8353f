// SPDX-License-Identifier: Apache-2.0
#include "src/compare/night.h"

#include <gtest/gtest.h>

#include "src/core/error.h"
#include "tests/compare/made_results.h"
#include "tests/support/temporary_folder.h"

namespace headroom {
namespace {

const std::vector<double> kQuiet = {100, 101, 100.5, 101.5, 100.2};
// Somebody else took a part of the machine half of the time.
const std::vector<double> kNoisy = {100, 131, 100.5, 128, 100.2, 140, 101, 133, 100.8, 126};

std::vector<double> scaled(std::vector<double> values, double factor) {
  for (double& value : values) value *= factor;
  return values;
}

TEST(TimeGate, is_green_within_half_of_what_is_allowed) {
  for (const double factor : {1.0, 1.014, 0.5}) {
    const TimeEvidence evidence{.old_ns = kQuiet, .new_ns = scaled(kQuiet, factor)};
    EXPECT_FALSE(needs_rerun(evidence)) << factor;
    EXPECT_EQ(time_light(evidence), Light::green) << factor;
  }
}

TEST(TimeGate, looks_at_the_fastest_processes) {
  std::vector<double> disturbed = scaled(kQuiet, 1.3);
  disturbed.back() = 100.1;
  EXPECT_FALSE(needs_rerun({.old_ns = kQuiet, .new_ns = disturbed}));
  EXPECT_TRUE(needs_rerun({.old_ns = disturbed, .new_ns = scaled(kQuiet, 1.05)}));
}

TEST(TimeGate, is_red_only_where_a_rerun_confirms_it) {
  TimeEvidence evidence{.old_ns = kQuiet, .new_ns = scaled(kQuiet, 1.05)};
  EXPECT_TRUE(needs_rerun(evidence));
  EXPECT_EQ(time_light(evidence), Light::yellow);
  const auto after = [&](const std::vector<double>& old_ns, const std::vector<double>& new_ns) {
    evidence.rerun_old_ns = old_ns;
    evidence.rerun_new_ns = new_ns;
    const Light light = time_light(evidence);
    EXPECT_EQ(needs_rerun(evidence), light == Light::yellow);
    return light;
  };
  EXPECT_EQ(after(kNoisy, kNoisy), Light::green);
  EXPECT_EQ(after(kNoisy, scaled(kNoisy, 1.014)), Light::green);
  EXPECT_EQ(after(kNoisy, scaled(kNoisy, 1.029)), Light::yellow);  // less than allowed
  // Five of ten are below all of the others: p is 0.016. Of twenty ten are.
  EXPECT_EQ(after(kNoisy, scaled(kNoisy, 1.05)), Light::yellow);
  std::vector<double> more = kNoisy;
  more.insert(more.end(), kNoisy.begin(), kNoisy.end());
  EXPECT_EQ(after(more, scaled(more, 1.05)), Light::red);
}

TEST(TimeGate, turns_red_on_the_third_yellow_night) {
  TimeEvidence evidence{.old_ns = kQuiet, .new_ns = scaled(kQuiet, 1.05)};
  evidence.yellow_nights = 1;
  EXPECT_EQ(time_light(evidence), Light::yellow);
  evidence.yellow_nights = 2;
  EXPECT_EQ(time_light(evidence), Light::red);
}

TEST(History, gives_back_the_nights_of_a_case_on_its_machine) {
  const TemporaryFolder folder;
  const std::string path = folder / "history.db";
  const NightlyCase a{.suite = "s", .name = "it's", .machine = "m"};
  {
    History history(path);
    EXPECT_EQ(history.yellow_nights(a), 0);
    for (const Light light : {Light::yellow, Light::red, Light::yellow, Light::yellow}) {
      NightlyCase one = a;
      one.light = light;
      NightlyCase other = one;
      other.machine = "n";
      other.name = "b";
      history.add("2026-11-22T00:00:00Z", "old", "new", {one, other});
    }
  }
  const History history(path);
  EXPECT_EQ(history.yellow_nights(a), 2);
  EXPECT_EQ(history.yellow_nights({.suite = "s", .name = "it's", .machine = "n"}), 0);
  EXPECT_EQ(history.yellow_nights({.suite = "s", .name = "c", .machine = "m"}), 0);
}

TEST(History, refuses_a_file_that_is_none) {
  const TemporaryFolder folder;
  EXPECT_THROW(History(folder.write("h", "this is no database, whatever it is called")),
               ResultsError);
  EXPECT_THROW(History(folder / "missing/h"), ResultsError);
}

TEST(Night, judges_bytes_at_once_and_times_by_a_rerun) {
  const TemporaryFolder folder;
  const History history(folder / "history.db");
  NightlyResults results{.old_results = made_repeats(kQuiet), .new_results = made_repeats(kQuiet)};
  EXPECT_EQ(judge_night(results, history).light(), Light::green);
  EXPECT_TRUE(suspects(results, history).empty());

  results.new_results = made_repeats(scaled(kQuiet, 1.05));
  ASSERT_EQ(suspects(results, history).size(), 1U);
  EXPECT_EQ(suspects(results, history)[0].name, "a");
  EXPECT_EQ(judge_night(results, history).light(), Light::yellow);
  results.rerun_old = made_repeats(kQuiet);
  results.rerun_new = made_repeats(scaled(kQuiet, 1.05));
  const Night night = judge_night(results, history);
  EXPECT_EQ(night.light(), Light::red);
  EXPECT_EQ(night.cases[0].reason, "a step takes +5.0 %, +5.0 % in a rerun of 5 and 5 processes");

  results = {.old_results = made_repeats(kQuiet), .new_results = made_repeats(kQuiet)};
  results.new_results[3].cases[0].row["run_peak_allocated_bytes"] = (4 << 20) + 1;
  EXPECT_EQ(judge_night(results, history).light(), Light::red);
}

TEST(Night, refuses_results_of_another_machine) {
  const TemporaryFolder folder;
  const History history(folder / "history.db");
  NightlyResults results{.old_results = made_repeats(kQuiet), .new_results = made_repeats(kQuiet)};
  for (Results& one : results.new_results) one.cases[0].environment["cores"] = 64;
  EXPECT_THROW(judge_night(results, history), ResultsError);
}

}  // namespace
}  // namespace headroom
