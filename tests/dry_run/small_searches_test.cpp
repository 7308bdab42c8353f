// SPDX-License-Identifier: Apache-2.0
// Launches as PyTorch 2.11 makes them.
#include "src/dry_run/small_searches.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/dry_run/small_tables.h"

namespace headroom::dry_run {
namespace {

const char* const kSearch =
    "_ZN2at6native49_GLOBAL__N__c6f87824_16_Bucketization_cu_723a43a424searchsorted_cuda_"
    "kernelIflEEvPT0_PKT_S7_PKllllbb";

class SmallSearches : public testing::Test {
 protected:
  /// Of two rows of two numbers.
  std::vector<std::int64_t> found(bool counts_equal, bool one_row) {
    const char* to = table(0x3000);
    const char* numbers = table(0x1000);
    const char* limits = table(0x2000);
    const char* order = nullptr;
    std::int64_t in_row = 2;
    std::int64_t limits_in_row = 3;
    std::int64_t count = 4;
    std::vector<void*> arguments{&to,    &numbers,      &limits, &order, &in_row, &limits_in_row,
                                 &count, &counts_equal, &one_row};
    EXPECT_TRUE(is_search(kSearch));
    EXPECT_TRUE(run_search(kSearch, arguments.data(), known, &is_table));
    return table_of<std::int64_t>(known, 0x3000, 4);
  }

  KnownBytes known;
};

TEST_F(SmallSearches, CountTheLimitsBelow) {
  using Counts = std::vector<std::int64_t>;
  put_table<float>(known, 0x1000, {0.5F, 2, 3, 4});
  EXPECT_TRUE(found(true, true).empty()) << "the limits are not known";
  put_table<float>(known, 0x2000, {1, 2, 3, 3, 4, 5});
  EXPECT_EQ(found(/*counts_equal=*/false, /*one_row=*/true), (Counts{0, 1, 2, 3}));
  EXPECT_EQ(found(/*counts_equal=*/true, /*one_row=*/true), (Counts{0, 2, 3, 3}));
  EXPECT_EQ(found(/*counts_equal=*/true, /*one_row=*/false), (Counts{0, 2, 1, 2}));
}

}  // namespace
}  // namespace headroom::dry_run
