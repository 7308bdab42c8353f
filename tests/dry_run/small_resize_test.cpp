// SPDX-License-Identifier: Apache-2.0
// A launch as PyTorch 2.11 makes it.
#include "src/dry_run/small_resize.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/dry_run/small_tables.h"

namespace headroom::dry_run {
namespace {

TEST(SmallResize, TakesTheNearest) {
  const char* const name =
      "_ZN2at6native53_GLOBAL__N__222ba01c_20_UpSampleNearest2d_cu_198c5ce228upsample_nearest2d_out"
      "_frameIfXadL_ZNS0_37nearest_neighbor_compute_source_indexEfiiEEEEvPKT_PS3_mmmmmff";
  KnownBytes known;
  const char* from = table(0x1000);
  const char* to = table(0x2000);
  std::vector<std::size_t> sizes{1, 2, 3, 1, 2};  // images, height, width, the new ones
  float height_ratio = 2;
  float width_ratio = 1.5F;
  std::vector<void*> arguments{&from, &to};
  for (std::size_t& size : sizes) arguments.push_back(&size);
  arguments.push_back(&height_ratio);
  arguments.push_back(&width_ratio);
  ASSERT_TRUE(is_resize(name));
  put_table<float>(known, 0x2000, {7, 7});
  EXPECT_TRUE(run_resize(name, arguments.data(), known, &is_table));
  EXPECT_TRUE(table_of<float>(known, 0x2000, 2).empty()) << "nothing is known of it";
  put_table<float>(known, 0x1000, {1, 2, 3, 4, 5, 6});
  EXPECT_TRUE(run_resize(name, arguments.data(), known, &is_table));
  EXPECT_EQ(table_of<float>(known, 0x2000, 2), (std::vector<float>{1, 2}));
}

}  // namespace
}  // namespace headroom::dry_run
