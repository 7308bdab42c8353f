// SPDX-License-Identifier: Apache-2.0
#include "src/report/night.h"

#include <gtest/gtest.h>

#include "src/core/error.h"
#include "tests/report/made_results.h"
#include "tests/support/temporary_folder.h"

namespace headroom {
namespace {

const std::vector<double> kQuiet = {100, 101, 100.5, 99.5, 100.2};
const std::vector<double> kMany = {100,   101,  100.5, 99.5,  100.2, 99.9, 100.1, 100.4,
                                   100.3, 99.7, 100.6, 100.8, 99.6,  99.8, 100.7};

std::vector<double> scaled(std::vector<double> values, double factor) {
  for (double& value : values) value *= factor;
  return values;
}

TEST(TimeGate, is_green_within_the_noise) {
  EXPECT_EQ(time_light({.old_ns = kQuiet, .new_ns = scaled(kQuiet, 1.005)}), Light::green);
  EXPECT_EQ(time_light({.old_ns = kQuiet, .new_ns = scaled(kQuiet, 0.5)}), Light::green);
}

TEST(TimeGate, suspects_what_leaves_the_noise_of_earlier_nights) {
  TimeEvidence evidence{.old_ns = kQuiet, .new_ns = scaled(kQuiet, 1.02)};
  EXPECT_TRUE(is_suspect(evidence));
  evidence.past_ratios = {1.02, 0.98, 1.03, 0.97, 1.01, 0.99, 1.025, 0.975};
  EXPECT_FALSE(is_suspect(evidence));
  evidence.new_ns = scaled(kQuiet, 1.031);  // beyond the limit, whatever the noise
  EXPECT_TRUE(is_suspect(evidence));
}

TEST(TimeGate, is_red_only_where_a_rerun_confirms_it) {
  TimeEvidence evidence{.old_ns = kQuiet, .new_ns = scaled(kQuiet, 1.05)};
  EXPECT_EQ(time_light(evidence), Light::yellow);
  evidence.rerun_old_ns = kMany;
  evidence.rerun_new_ns = scaled(kMany, 1.05);
  EXPECT_EQ(time_light(evidence), Light::red);
  evidence.rerun_new_ns = kMany;
  EXPECT_EQ(time_light(evidence), Light::green);
  evidence.rerun_new_ns = scaled(kMany, 1.029);
  EXPECT_EQ(time_light(evidence), Light::yellow);
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
    EXPECT_TRUE(history.past_ratios(a).empty());
    for (int night = 0; night < 40; ++night) {
      NightlyCase one = a;
      one.ratio = 1 + night / 1000.0;
      if (night == 37) one.light = Light::red;
      if (night > 37) one.light = Light::yellow;
      NightlyCase other = one;
      other.machine = "n";
      other.name = "b";
      history.add("2026-11-22T00:00:00Z", "old", "new", {one, other});
    }
  }
  const History history(path);
  const std::vector<double> ratios = history.past_ratios(a);
  ASSERT_EQ(ratios.size(), 30U);
  EXPECT_EQ(ratios[0], 1.039);
  EXPECT_EQ(ratios[2], 1.036);  // the red night is left out
  EXPECT_EQ(history.yellow_nights(a), 2);
  EXPECT_TRUE(history.past_ratios({.suite = "s", .name = "it's", .machine = "n"}).empty());
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
  results.rerun_old = made_repeats(kMany);
  results.rerun_new = made_repeats(scaled(kMany, 1.05));
  const Night night = judge_night(results, history);
  EXPECT_EQ(night.light(), Light::red);
  EXPECT_EQ(night.cases[0].reason, "a step takes +5.0 %, +5.0 % in a rerun of 15 and 15 processes");

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
