// SPDX-License-Identifier: Apache-2.0
#include "src/memory/address_map.h"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

namespace headroom {
namespace {

const void* address(std::uint64_t number) {
  return reinterpret_cast<const void*>(static_cast<std::uintptr_t>(number));
}

/// Does the same to both maps many times, and looks at all of both now and then.
void compare_with_unordered_map(std::uint64_t addresses, std::uint64_t spacing) {
  std::mt19937_64 random(addresses);
  AddressMap<std::uint64_t> map;
  std::unordered_map<const void*, std::uint64_t> expected;
  for (std::uint64_t i = 0; i < 200'000; ++i) {
    const void* const where = address((1 + random() % addresses) * spacing);
    if (random() % 2 == 0) {
      map.insert(where, i);
      expected[where] = i;
    } else {
      const auto found = expected.find(where);
      ASSERT_EQ(map.take(where),
                found == expected.end() ? std::nullopt : std::optional(found->second));
      if (found != expected.end()) expected.erase(found);
    }
    if (i % 10'000 != 0) continue;
    std::size_t visited = 0;
    map.for_each([&](std::uint64_t) { ++visited; });
    ASSERT_EQ(visited, expected.size());
    for (const auto& [known, value] : expected) {
      ASSERT_NE(map.find(known), nullptr);
      ASSERT_EQ(*map.find(known), value);
    }
  }
}

TEST(AddressMapTest, KeepsWhatAnyMapWouldKeep) {
  compare_with_unordered_map(300, 64);            // as a step's allocations
  compare_with_unordered_map(20'000, 64);         // grows
  compare_with_unordered_map(700, 1ULL << 21);    // as a caching allocator's segments
  compare_with_unordered_map(5'000, 1ULL << 45);  // few bits that differ
}

TEST(AddressMapTest, KnowsNothingAtFirst) {
  AddressMap<int> map;
  EXPECT_EQ(map.find(address(64)), nullptr);
  EXPECT_EQ(map.find(nullptr), nullptr);
  EXPECT_EQ(map.take(nullptr), std::nullopt);
}

}  // namespace
}  // namespace headroom
