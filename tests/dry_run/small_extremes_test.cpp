// SPDX-License-Identifier: Apache-2.0
// Launches as PyTorch 2.11 makes them, of two rows of three floats.
#include "src/dry_run/small_extremes.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace headroom::dry_run {
namespace {

const char* const kArgMax =
    "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_9ArgMaxOpsIfEEjlLi4ELi4EEEEEvT1_";
const char* const kMinOfRows =
    "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_6MinOpsIfEEjfLi4ELi4EEEEEvT1_";

const char* extreme_at(std::size_t number) {
  return reinterpret_cast<const char*>(std::uintptr_t{1} << 40U) + number;
}
bool is_of_extreme(const void* address) { return address >= extreme_at(0); }

/// {functor, {float, int64}, config, 64; where a result's inputs lie, 404; where results lie, and
/// their first inputs, 504; source, destination, another, buffers}.
struct ExtremeOperation {
  explicit ExtremeOperation(int width_of_result) {
    put(24, {16, 3, 2});
    put(24 + 64, {1, 3});
    put(24 + 64 + 4 + 25 * 12, {4});
    put(24 + 64 + 404, {1, 2});
    put(24 + 64 + 404 + 4 + 25 * 12, {width_of_result, 12});
    const std::array pointers{extreme_at(0x1000), extreme_at(0x2000), extreme_at(0x3000)};
    std::memcpy(&bytes[24 + 64 + 404 + 504 + 4], pointers.data(), sizeof(pointers));
  }
  void put(std::size_t at, const std::vector<int>& numbers) {
    std::memcpy(&bytes[at], numbers.data(), numbers.size() * sizeof(int));
  }

  std::array<char, 1200> bytes{};
};

struct SmallExtremesTest : testing::Test {
  void set(const std::vector<float>& numbers, Trust trust = {}) {
    known.set(extreme_at(0x1000), numbers.data(), numbers.size() * sizeof(float), trust);
  }
  bool run(const char* name, const ExtremeOperation& operation) {
    return is_extreme(name) && run_extreme(name, operation.bytes.data(), known, &is_of_extreme);
  }
  std::vector<std::int64_t> places(std::size_t at) const {
    const auto bytes = known.find(extreme_at(at), 16);
    std::vector<std::int64_t> found(bytes.size() / 8);
    std::memcpy(found.data(), bytes.data(), bytes.size());
    return found;
  }

  KnownBytes known;
};

TEST_F(SmallExtremesTest, FindsTheFirstOfTheLargest) {
  set({1, 7, 7, -1, -3, -2});
  EXPECT_TRUE(run(kArgMax, ExtremeOperation(8)));
  EXPECT_EQ(places(0x2000), std::vector<std::int64_t>({1, 0}));
  set({1, 7, 7, -1, std::numeric_limits<float>::quiet_NaN(), -2});
  EXPECT_TRUE(run(kArgMax, ExtremeOperation(8)));
  EXPECT_EQ(places(0x2000), std::vector<std::int64_t>({1, 1}));
  // Of floats that something may have been added to, nothing is said.
  set({0, 0, 0, 0, 0, 0}, {.is_doubted = true});
  EXPECT_TRUE(run(kArgMax, ExtremeOperation(8)));
  EXPECT_TRUE(places(0x2000).empty());
}

TEST_F(SmallExtremesTest, GivesTheSmallestAndItsPlace) {
  set({4, 2, 3});  // the second row is not known
  EXPECT_TRUE(run(kMinOfRows, ExtremeOperation(4)));
  float smallest = 0;
  EXPECT_TRUE(known.read(&smallest, extreme_at(0x2000), sizeof(smallest)));
  EXPECT_EQ(smallest, 2);
  std::int64_t place = 0;
  EXPECT_TRUE(known.read(&place, extreme_at(0x3000), sizeof(place)));
  EXPECT_EQ(place, 1);
  EXPECT_TRUE(known.find(extreme_at(0x2004), 4).empty());
  EXPECT_TRUE(known.find(extreme_at(0x3008), 8).empty());
  ExtremeOperation other(4);
  other.put(24, {4});
  EXPECT_FALSE(run(kMinOfRows, other));
}

}  // namespace
}  // namespace headroom::dry_run
