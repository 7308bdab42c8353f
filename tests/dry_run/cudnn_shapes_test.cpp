// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "src/dry_run/cudnn_types.h"

namespace headroom::dry_run {
namespace {

/// Of 3 x 3 places, from 8 pictures of 10 x 10 points to as many.
Convolution convolution(std::int64_t inputs, std::int64_t outputs, std::int64_t groups = 1) {
  return {.pass = ConvolutionPass::forward,
          .type = CUDNN_DATA_HALF,
          .input = {8, inputs, 10, 10},
          .output = {8, outputs, 10, 10},
          .filter = {outputs, inputs / groups, 3, 3}};
}

constexpr std::int64_t kPairs = 2 * 8 * 10 * 10 * 3 * 3;

TEST(CudnnShapesTest, WideChannelsFillNothingUp) {
  EXPECT_EQ(filled_flops(convolution(64, 128)).tensor_cores, kPairs * 64 * 128);
  EXPECT_EQ(filled_flops(convolution(256, 128, 2)).tensor_cores, kPairs * 128 * 128);
}

TEST(CudnnShapesTest, NarrowChannelsOfEitherSideAreFilledUpToABlock) {
  EXPECT_EQ(filled_flops(convolution(3, 128)).tensor_cores, kPairs * 64 * 128);
  EXPECT_EQ(filled_flops(convolution(128, 32)).tensor_cores, kPairs * 128 * 64);
  EXPECT_EQ(filled_flops(convolution(128, 128, 32)).tensor_cores, kPairs * 64 * 128);
  EXPECT_EQ(filled_flops(convolution(3, 128)).lanes, kPairs * 3 * 128);
}

TEST(CudnnShapesTest, GroupsAreFilledUpOnBothSides) {
  const FilledFlops of_24 = filled_flops(convolution(96, 96, 4));
  EXPECT_EQ(of_24.lanes, 4 * kPairs * 32 * 32);
  EXPECT_EQ(of_24.tensor_cores, 4 * kPairs * 32 * 64);
  EXPECT_EQ(filled_flops(convolution(144, 144, 2)).lanes, 2 * kPairs * 128 * 128);
  EXPECT_EQ(filled_flops(convolution(336, 336, 2)).tensor_cores, 2 * kPairs * 192 * 192);
  EXPECT_EQ(filled_flops(convolution(64, 64, 64)).lanes, kPairs * 64);
}

TEST(CudnnShapesTest, PlacesOfWideWindowsOfDepthwiseConvolutionsTakeInstructions) {
  constexpr std::int64_t kPlaces = 8 * 128 * 10 * 10 * 7 * 7;
  Convolution wide = convolution(96, 96, 96);
  EXPECT_EQ(instructions_of_wide_windows(wide), 0);
  wide.filter = {96, 1, 7, 7};
  wide.type = CUDNN_DATA_HALF;
  EXPECT_EQ(instructions_of_wide_windows(wide), 16 * kPlaces);
  wide.pass = ConvolutionPass::of_input;
  EXPECT_EQ(instructions_of_wide_windows(wide), 0);
  wide.type = CUDNN_DATA_FLOAT;
  EXPECT_EQ(instructions_of_wide_windows(wide), 78 * kPlaces);
  Convolution of_all = convolution(64, 64);
  of_all.filter = {64, 64, 7, 7};
  EXPECT_EQ(instructions_of_wide_windows(of_all), 0);
}

}  // namespace
}  // namespace headroom::dry_run
