// SPDX-License-Identifier: Apache-2.0
// Launches as PyTorch 2.11 makes them.
#include "src/dry_run/small_repeats.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/dry_run/small_tables.h"

namespace headroom::dry_run {
namespace {

TEST(SmallRepeats, NumberEachThingAsOftenAsItIsRepeated) {
  const char* const name = "_Z19compute_cuda_kernelIiEvPKT_PKlPS0_ll";
  KnownBytes known;
  const char* counts = table(0x1000);
  const char* sums = table(0x2000);
  const char* to = table(0x3000);
  std::int64_t things = 3;
  std::vector<void*> arguments{&counts, &sums, &to, &things};
  ASSERT_TRUE(is_repeat(name));
  EXPECT_FALSE(run_repeat(name, arguments.data(), known, &is_table)) << "how often is not known";
  put_table<std::int64_t>(known, 0x2000, {2, 2, 5});
  EXPECT_TRUE(run_repeat(name, arguments.data(), known, &is_table));
  EXPECT_EQ(table_of<int>(known, 0x3000, 5), (std::vector<int>{0, 0, 2, 2, 2}));
}

}  // namespace
}  // namespace headroom::dry_run
