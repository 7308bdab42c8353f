// SPDX-License-Identifier: Apache-2.0
#include "src/machine/processes.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

namespace headroom {
namespace {

constexpr std::int64_t kMib = 1024 * 1024;

TEST(ProcessMemoryTest, ThePeakGrowsWithWhatIsTouched) {
  const std::int64_t before = host_peak_bytes().value();
  EXPECT_GT(before, 10 * kMib);  // the libraries alone
  const at::Tensor touched = at::ones({400 * kMib}, at::kByte);
  EXPECT_GE(host_peak_bytes().value(), 400 * kMib);
  EXPECT_GE(host_peak_bytes().value(), before);
}

TEST(ProcessMemoryTest, TheSystemHasMemoryLeft) { EXPECT_GT(available_host_bytes().value(), kMib); }

/// In a process of its own: the limit holds for good.
void allocate_under_a_limit() {
  limit_host_memory(256 * kMib);
  const at::Tensor fits = at::ones({64 * kMib}, at::kByte);
  try {
    at::empty({1024 * kMib}, at::kByte);
  } catch (const c10::Error& error) {
    std::cerr << error.what_without_backtrace() << std::endl;
    std::_Exit(fits.defined() ? 7 : 1);
  }
  std::_Exit(0);
}

TEST(ProcessMemoryDeathTest, BeyondTheLimitAnAllocationFailsAndCanBeCaught) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(allocate_under_a_limit(), testing::ExitedWithCode(7), "can't allocate memory");
}

}  // namespace
}  // namespace headroom
