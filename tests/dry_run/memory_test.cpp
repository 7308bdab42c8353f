// SPDX-License-Identifier: Apache-2.0
// Memory that is only a number.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "src/dry_run/memory.h"

namespace headroom::dry_run {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

TEST(GpuMemory, CountsWhatIsTakenAndGivenBack) {
  GpuMemory memory(100 * kMiB, 10 * kMiB, false);
  EXPECT_EQ(memory.used(), 0);
  memory.make_context();
  memory.make_context();  // there is one
  EXPECT_EQ(memory.used(), 10 * kMiB);
  void* first = memory.allocate(30 * kMiB);
  void* second = memory.allocate(20 * kMiB);
  EXPECT_EQ(memory.used(), 60 * kMiB);
  EXPECT_TRUE(memory.release(first));
  EXPECT_FALSE(memory.release(first));
  EXPECT_TRUE(memory.release(second));
  EXPECT_EQ(memory.used(), 10 * kMiB);
  EXPECT_EQ(memory.peak_used(), 60 * kMiB);
}

TEST(GpuMemory, RefusesTheFirstByteTooMuch) {
  GpuMemory memory(100 * kMiB, 10 * kMiB, false);
  memory.make_context();
  EXPECT_EQ(memory.allocate(90 * kMiB + 1), nullptr);
  EXPECT_EQ(memory.refused_bytes(), 90 * kMiB + 1);
  EXPECT_EQ(memory.free_when_refused(), 90 * kMiB);
  EXPECT_NE(memory.allocate(90 * kMiB), nullptr);
}

TEST(GpuMemory, RefusesNothingWhereItOvercommits) {
  GpuMemory memory(100 * kMiB, 10 * kMiB, true);
  EXPECT_NE(memory.allocate(500 * kMiB), nullptr);
  EXPECT_EQ(memory.peak_used(), 500 * kMiB);
  EXPECT_EQ(memory.refused_bytes(), 0);
}

TEST(GpuMemory, HandsOutFallingAddressesOfItsOwn) {
  GpuMemory memory(100 * kMiB, 0, false);
  char* first = static_cast<char*>(memory.allocate(3 * kMiB));
  char* second = static_cast<char*>(memory.allocate(1));
  char* reserved = static_cast<char*>(memory.reserve_addresses(std::int64_t{1} << 40));
  EXPECT_GE(first, second + 1);
  EXPECT_GE(second, reserved + (std::int64_t{1} << 40));
  EXPECT_TRUE(memory.owns(first + 3 * kMiB - 1));
  EXPECT_TRUE(memory.owns(reserved));
  int here = 0;
  EXPECT_FALSE(memory.owns(&here));
  EXPECT_FALSE(memory.owns(nullptr));
  EXPECT_EQ(memory.used(), 3 * kMiB + 1);  // addresses cost nothing
}

TEST(GpuMemory, FindsTheAllocationOfAnAddress) {
  GpuMemory memory(100 * kMiB, 0, false);
  char* first = static_cast<char*>(memory.allocate(3 * kMiB));
  memory.allocate(kMiB);
  const auto found = memory.allocation_of(first + 3 * kMiB - 1);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->begin, reinterpret_cast<std::uintptr_t>(first));
  EXPECT_EQ(found->bytes, 3 * kMiB);
  EXPECT_FALSE(memory.allocation_of(first + 3 * kMiB));
  memory.release(first);
  EXPECT_FALSE(memory.allocation_of(first));
}

TEST(GpuMemory, IsNoMemory) {
  GpuMemory memory(100 * kMiB, 0, false);
  auto* byte = static_cast<volatile char*>(memory.allocate(kMiB));
  EXPECT_DEATH(*byte = 1, "");
}

TEST(PinnedMemory, KnowsItsRanges) {
  PinnedMemory pinned;
  auto* own = static_cast<char*>(pinned.allocate(5000));
  ASSERT_NE(own, nullptr);
  own[4999] = 1;  // real memory
  EXPECT_TRUE(pinned.owns(own + 4999));
  EXPECT_FALSE(pinned.owns(own + 5000));
  std::array<char, 64> registered{};
  pinned.pin(registered.data(), registered.size());
  EXPECT_TRUE(pinned.owns(registered.data()));
  pinned.unpin(registered.data());
  EXPECT_FALSE(pinned.owns(registered.data()));
  pinned.release(own);
  EXPECT_FALSE(pinned.owns(own));
  EXPECT_DEATH(*static_cast<volatile char*>(own) = 1, "");  // its mapping went with it
  EXPECT_EQ(pinned.peak_bytes(), 5064);
}

}  // namespace
}  // namespace headroom::dry_run
