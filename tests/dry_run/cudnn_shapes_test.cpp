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
  EXPECT_EQ(filled_flops(convolution(64, 128)), kPairs * 64 * 128);
  EXPECT_EQ(filled_flops(convolution(256, 128, 2)), kPairs * 128 * 128);
}

TEST(CudnnShapesTest, NarrowChannelsOfEitherSideAreFilledUpToABlock) {
  EXPECT_EQ(filled_flops(convolution(3, 128)), kPairs * 64 * 128);
  EXPECT_EQ(filled_flops(convolution(128, 32)), kPairs * 128 * 64);
  EXPECT_EQ(filled_flops(convolution(128, 128, 32)), kPairs * 64 * 128);
}

}  // namespace
}  // namespace headroom::dry_run
