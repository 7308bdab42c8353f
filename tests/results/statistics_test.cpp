// SPDX-License-Identifier: Apache-2.0
// Probabilities are those of scipy 1.17.1: scipy.stats.mannwhitneyu(method="exact",
// alternative="less").
#include "src/results/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace headroom {
namespace {

using Sample = std::vector<double>;

const Sample kFive = {1.1, 2.2, 3.3, 4.4, 5.5};
const Sample kSix = {2.3, 3.4, 4.5, 5.6, 6.7, 7.8};

TEST(Statistics, know_the_middle_and_the_distance_from_it) {
  EXPECT_EQ(median(Sample{3, 1, 2}), 2);
  EXPECT_EQ(median(Sample{4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median_deviation(Sample{1, 2, 3, 4, 1000}), 1);
  EXPECT_EQ(median_deviation(Sample{7}), 0);
}

TEST(Statistics, give_the_exact_probability_of_two_samples) {
  EXPECT_NEAR(mann_whitney_p(kFive, kSix), 0.06277056277056277, 1e-15);
  EXPECT_NEAR(mann_whitney_p(kSix, kFive), 0.9588744588744589, 1e-15);
  EXPECT_NEAR(mann_whitney_p(Sample{1, 2, 3}, Sample{4, 5, 6}), 0.05, 1e-15);
  Sample first;
  Sample second;
  for (int i = 1; i <= 20; ++i) {
    first.push_back(i);
    second.push_back(i + 5.5);
  }
  EXPECT_NEAR(mann_whitney_p(first, second), 0.0047418035956025015, 1e-15);
}

TEST(Statistics, are_cautious_with_ties) {
  EXPECT_GE(mann_whitney_p(Sample{1, 1, 1}, Sample{1, 1, 1}), 0.5);
  EXPECT_GT(mann_whitney_p(Sample{1, 2, 3}, Sample{3, 4, 5}), 0.05);
  EXPECT_EQ(mann_whitney_p(Sample{1}, Sample{2}), 0.5);  // one value each proves nothing
}

TEST(Statistics, look_at_how_many_precede_all_of_the_other_sample) {
  // By hand: all orders are as probable, so the least is of the first in m of m + n.
  EXPECT_NEAR(precedence_p(Sample{1, 2, 3}, Sample{4, 5, 6}), 0.05, 1e-15);  // 3/6 * 2/5 * 1/4
  EXPECT_NEAR(precedence_p(Sample{1, 9, 9}, Sample{4, 5, 6}), 0.5, 1e-15);
  EXPECT_EQ(precedence_p(Sample{4, 5, 6}, Sample{1, 9, 9}), 1);
  EXPECT_EQ(precedence_p(Sample{1, 1}, Sample{1, 1}), 1);  // ties prove nothing
}

TEST(Statistics, give_a_ratio_and_what_the_test_does_not_reject) {
  const Sample first = {100, 101, 102, 103, 104};
  Sample second;
  for (const double value : first) second.push_back(value * 1.05);
  EXPECT_NEAR(ratio_of(first, second), 1.05, 1e-12);
  const Interval interval = ratio_interval(first, second, 0.025);
  EXPECT_GT(interval.lower, 1.0);
  EXPECT_LT(interval.lower, 1.05);
  EXPECT_GT(interval.upper, 1.05);
  EXPECT_LT(interval.upper, 1.1);
  EXPECT_EQ(ratio_of(Sample{5}, Sample{10}), 2);
}

TEST(Statistics, of_too_few_values_leave_all_ratios_open) {
  const Interval interval = ratio_interval(Sample{1, 2, 3}, Sample{4, 5, 6}, 0.025);
  EXPECT_EQ(interval.lower, 0);
  EXPECT_TRUE(std::isinf(interval.upper));
}

/// The interval is that of the test: a second sample divided by a ratio outside of it is rejected,
/// by one inside not.
TEST(Statistics, give_the_interval_of_the_test) {
  const double p = 0.025;
  const Interval interval = ratio_interval(kFive, kSix, p);
  const auto scaled = [](double ratio) {
    Sample sample = kSix;
    for (double& value : sample) value /= ratio;
    return sample;
  };
  EXPECT_LE(mann_whitney_p(kFive, scaled(interval.lower * 0.999)), p);
  EXPECT_GT(mann_whitney_p(kFive, scaled(interval.lower * 1.001)), p);
  EXPECT_LE(mann_whitney_p(scaled(interval.upper * 1.001), kFive), p);
  EXPECT_GT(mann_whitney_p(scaled(interval.upper * 0.999), kFive), p);
}

}  // namespace
}  // namespace headroom
