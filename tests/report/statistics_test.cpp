// SPDX-License-Identifier: Apache-2.0
// Reference values: scipy 1.14, scipy.stats.mannwhitneyu(method="exact", alternative="less").
#include "src/report/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace headroom {
namespace {

using Sample = std::vector<double>;

TEST(Statistics, know_the_middle_and_the_distance_from_it) {
  EXPECT_EQ(median(Sample{3, 1, 2}), 2);
  EXPECT_EQ(median(Sample{4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median_deviation(Sample{1, 2, 3, 4, 1000}), 1);
}

}  // namespace
}  // namespace headroom
