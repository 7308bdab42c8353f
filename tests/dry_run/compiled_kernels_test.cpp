// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/compiled_kernels.h"

#include <gtest/gtest.h>

#include "src/dry_run/work.h"

namespace headroom::dry_run {
namespace {

constexpr std::int64_t kLaunched = 1024;
constexpr std::int64_t kBytes = kLaunched * kBytesPerThread;

TEST(CompiledKernels, CountByTheirThreads) {
  CompiledKernels kernels;
  auto& add = *kernels.add("add");
  EXPECT_EQ(kernels.bytes(add, kLaunched), kBytes);
  EXPECT_EQ(kernels.bytes(add, 3 * kLaunched), 3 * kBytes);
  EXPECT_EQ(kernels.bytes(*kernels.add("multiply"), 2 * kLaunched), 2 * kBytes);
}

TEST(CompiledKernels, MoveTheSameWithOtherBlocks) {
  CompiledKernels kernels;
  auto& first = *kernels.add("add");
  auto& other = *kernels.add("add");  // a quarter of the threads, each with four times as much
  EXPECT_EQ(kernels.bytes(first, kLaunched), kBytes);
  EXPECT_EQ(kernels.bytes(other, kLaunched / 4), kBytes);
  EXPECT_EQ(kernels.bytes(first, kLaunched), kBytes);
  // A launch over twice as much.
  EXPECT_EQ(kernels.bytes(other, kLaunched / 2), 2 * kBytes);
}

}  // namespace
}  // namespace headroom::dry_run
