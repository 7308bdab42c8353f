// SPDX-License-Identifier: Apache-2.0
#include "src/suite/shard.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "src/core/error.h"

namespace headroom {
namespace {

TEST(Shard, takes_each_case_into_one_part) {
  constexpr std::uint32_t kCount = 8;
  std::array<int, kCount> sizes{};
  for (int i = 0; i < 1000; ++i) {
    const std::string name = "case@train.seed=" + std::to_string(i);
    int holders = 0;
    for (std::uint32_t number = 1; number <= kCount; ++number) {
      if (!Shard{number, kCount}.holds(name)) continue;
      ++holders;
      ++sizes[number - 1];
    }
    EXPECT_EQ(holders, 1) << name;
  }
  for (const int size : sizes) EXPECT_NEAR(size, 125, 40);
}

TEST(Shard, keeps_a_case_where_it_is_on_every_machine) {
  // CRC-32 of "vanilla" is 0x0360d014, which is 4 modulo 8.
  EXPECT_TRUE(parse_shard("5/8").holds("vanilla"));
  EXPECT_TRUE(Shard().holds("vanilla"));
}

TEST(Shard, is_refused_where_it_is_none) {
  for (const char* text :
       {"", "1", "0/8", "9/8", "1/0", "-1/8", "1/8 ", "a/b", "1/10001", "1/8/2"}) {
    EXPECT_THROW(parse_shard(text), ConfigError) << text;
  }
}

}  // namespace
}  // namespace headroom
