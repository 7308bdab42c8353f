// SPDX-License-Identifier: Apache-2.0
#include "src/core/bytes.h"

#include <gtest/gtest.h>

namespace headroom {
namespace {

TEST(Bytes, FormatsForPeople) {
  EXPECT_EQ(format_bytes(0), "0 bytes");
  EXPECT_EQ(format_bytes(1023), "1023 bytes");
  EXPECT_EQ(format_bytes(1024), "1.00 KiB");
  EXPECT_EQ(format_bytes(1536), "1.50 KiB");
  EXPECT_EQ(format_bytes(1024 * 1024), "1.00 MiB");
  EXPECT_EQ(format_bytes(26'790'000'000), "24.95 GiB");
  EXPECT_EQ(format_bytes(-1536), "-1.50 KiB");
  EXPECT_EQ(format_bytes(std::int64_t{1} << 45), "32768.00 GiB");
}

TEST(Bytes, AddsAndCompares) {
  EXPECT_EQ(Bytes{3} + Bytes{4}, Bytes{7});
  EXPECT_EQ(Bytes{3} - Bytes{4}, Bytes{-1});
  EXPECT_LT(Bytes{3}, Bytes{4});
}

}  // namespace
}  // namespace headroom
