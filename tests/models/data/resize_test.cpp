// SPDX-License-Identifier: Apache-2.0
#include "models/data/resize.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace headroom {
namespace {

TEST(Resize, InterpolatesBetweenPixelCentres) {
  // Twice the size: a target centre lies a quarter of a pixel off a source centre.
  //   0 16        0  4 12 16 in the first row, 16 12  4  0 in the last; values 0 .. 16 are
  //   16 0        mapped to [-1, 1]
  const std::uint8_t pixels[] = {0, 16, 16, 0};
  std::vector<float> out(16);
  Resize(2, 4, 16)(pixels, out.data());
  // The second row lies a quarter of the way from the first source row to the second: its source
  // row is (4, 12).
  const std::vector<float> expected = {-1,  -0.5, 0.5,   1,    -0.5, -0.25, 0.25, 0.5,
                                       0.5, 0.25, -0.25, -0.5, 1,    0.5,   -0.5, -1};
  EXPECT_EQ(out, expected);
}

TEST(Resize, KeepsAnImageOfTheSameSize) {
  const std::uint8_t pixels[] = {0, 51, 204, 255};
  std::vector<float> out(4);
  Resize(2, 2, 255)(pixels, out.data());
  EXPECT_FLOAT_EQ(out[0], -1);
  EXPECT_FLOAT_EQ(out[1], -0.6F);
  EXPECT_FLOAT_EQ(out[2], 0.6F);
  EXPECT_FLOAT_EQ(out[3], 1);
}

class ResizeAgainstLibTorch : public testing::TestWithParam<std::pair<int, int>> {};

TEST_P(ResizeAgainstLibTorch, Agrees) {
  const auto [from, to] = GetParam();
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(from) * from);
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<std::uint8_t>(i * 37 % 256);
  std::vector<float> out(static_cast<std::size_t>(to) * to);
  Resize(from, to, 255)(pixels.data(), out.data());

  const at::Tensor source =
      at::from_blob(pixels.data(), {1, 1, from, from}, at::kByte).to(at::kDouble).div(255);
  const at::Tensor expected =
      at::upsample_bilinear2d(source, {to, to}, /*align_corners=*/false).sub(0.5).div(0.5);
  const at::Tensor difference = at::from_blob(out.data(), {1, 1, to, to}).sub(expected);
  EXPECT_LT(difference.abs().max().item<float>(), 2e-6F);
}

INSTANTIATE_TEST_SUITE_P(Sizes, ResizeAgainstLibTorch,
                         testing::Values(std::pair(8, 224), std::pair(32, 224), std::pair(8, 32),
                                         std::pair(32, 33), std::pair(32, 15), std::pair(8, 1)));

}  // namespace
}  // namespace headroom
