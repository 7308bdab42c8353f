// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/fourier_work.h"

#include <gtest/gtest.h>

namespace headroom::dry_run {
namespace {

constexpr bool kRealSide = true;
constexpr bool kComplexSides = false;

/// What cuFFT 12 said on an H100.
struct PlanAnswer {
  FourierPlan plan;
  std::int64_t bytes;
};

TEST(FourierWorkTest, IsWhatCufftSaid) {
  const PlanAnswer answers[] = {
      {{8, kComplexSides, 64, {1024}}, 0},
      {{8, kComplexSides, 8, {20000}}, 0},
      {{8, kComplexSides, 8, {22050}}, 1'411'200},
      {{16, kComplexSides, 8, {16384}}, 0},
      {{16, kComplexSides, 8, {16000}}, 2'048'000},
      {{4, kComplexSides, 8, {8192}}, 0},
      {{4, kComplexSides, 8, {16384}}, 524'288},
      {{8, kRealSide, 1000, {400}}, 0},
      {{8, kRealSide, 64, {262144}}, 67'109'376},
      {{8, kRealSide, 64, {2046}}, 523'776},
      {{8, kRealSide, 24, {224, 446}}, 9'590'784},
      {{16, kRealSide, 8, {4096}}, 0},
      {{16, kRealSide, 8, {20000}}, 1'280'000},
      {{8, kComplexSides, 64, {1009}}, 0},
      {{8, kComplexSides, 8, {224, 225}}, 0},
      {{8, kComplexSides, 8, {1080, 1080}}, 74'649'600},
      {{16, kComplexSides, 8, {640, 640}}, 52'428'800},
      {{16, kRealSide, 8, {640, 640}}, 26'296'320},
      {{16, kRealSide, 1, {128, 128, 128}}, 0},
  };
  for (const auto& [plan, bytes] : answers) {
    SCOPED_TRACE(plan.sizes.back());
    EXPECT_EQ(fourier_work_bytes(plan), bytes);
  }
}

/// Beside these cuFFT takes some numbers more.
TEST(FourierWorkTest, IsNearWhatCufftSaidOfLargePrimes) {
  const PlanAnswer answers[] = {
      {{8, kRealSide, 1000, {211}}, 1'688'800},
      {{8, kRealSide, 64, {2049}}, 1'049'856},
      {{8, kRealSide, 64, {65537}}, 83'964'160},
      {{16, kComplexSides, 64, {4099}}, 17'694'720},
  };
  for (const auto& [plan, bytes] : answers) {
    SCOPED_TRACE(plan.sizes.back());
    const auto expected = static_cast<double>(bytes);
    EXPECT_NEAR(static_cast<double>(fourier_work_bytes(plan)), expected, 0.001 * expected);
  }
}

}  // namespace
}  // namespace headroom::dry_run
