// SPDX-License-Identifier: Apache-2.0
#include "src/results/columns.h"

#include <gtest/gtest.h>

#include <set>

namespace headroom {
namespace {

TEST(Columns, have_names_of_their_own_and_a_summary) {
  std::set<std::string_view> names;
  for (const ColumnEntry& entry : kColumns) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_FALSE(entry.summary.empty()) << entry.name;
    EXPECT_EQ(find_column(entry.name), &entry);
  }
  EXPECT_EQ(column::case_, "case");
  EXPECT_EQ(column::run_peak_allocated_bytes, "run_peak_allocated_bytes");
  EXPECT_EQ(find_column("nothing"), nullptr);
}

TEST(Columns, have_eight_parts_of_the_peak) {
  ASSERT_EQ(kPeakCategories.size(), 8U);
  EXPECT_EQ(kPeakCategories.front().name, "weights");
  EXPECT_EQ(kPeakCategories.front().column, column::peak_weights_bytes);
  EXPECT_EQ(kPeakCategories.back().name, "rounding");
  EXPECT_EQ(peak_category_of("run_peak_allocated_bytes"), "");
  EXPECT_EQ(peak_category_of("peak_phase"), "");
}

}  // namespace
}  // namespace headroom
