// SPDX-License-Identifier: Apache-2.0
// Work areas on an H100 with cuDNN 9.19.
#include "src/dry_run/cudnn_transforms.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "src/dry_run/cudnn_depthwise.h"

namespace headroom::dry_run {
namespace {

using Pass = ConvolutionPass;

/// A convolution of squares, and of what is given of others.
struct Case {
  Pass pass;
  cudnnDataType_t type;
  std::int64_t samples, inputs, outputs, groups;
  std::int64_t size, result;
  std::array<std::int64_t, 2> window;
  std::int64_t stride = 1;
  bool channels_last = false;
};

/// Padded as far as the result needs.
std::int64_t padding(const Case& shape, std::int64_t window) {
  return ((shape.result - 1) * shape.stride + window - shape.size + 1) / 2;
}

Convolution convolution(const Case& shape) {
  const auto [rows, columns] = shape.window;
  return {.pass = shape.pass,
          .type = shape.type,
          .input = {shape.samples, shape.inputs, shape.size, shape.size},
          .output = {shape.samples, shape.outputs, shape.result, shape.result},
          .filter = {shape.outputs, shape.inputs / shape.groups, rows, columns},
          .channels_last = shape.channels_last,
          .padding = {padding(shape, rows), padding(shape, columns)},
          .strides = {shape.stride, shape.stride},
          .dilations = {1, 1}};
}

struct SeenTransform {
  Case shape;
  std::int64_t bytes;
};

constexpr auto kFloat = CUDNN_DATA_FLOAT;
constexpr auto kHalf = CUDNN_DATA_HALF;
constexpr auto kBfloat16 = CUDNN_DATA_BFLOAT16;

TEST(CudnnTransformsTest, WorkInWhatFouriersTakeOnAnH100) {
  const std::vector<SeenTransform> all{
      {{Pass::forward, kFloat, 64, 228, 19, 1, 1, 1, {1, 1}}, 43618224},
      {{Pass::forward, kFloat, 64, 512, 448, 1, 28, 28, {1, 1}, 1, true}, 2475294736},
      {{Pass::forward, kFloat, 64, 1632, 1632, 1632, 7, 7, {3, 3}}, 1399296},
      {{Pass::forward, kHalf, 64, 120, 120, 120, 14, 14, {5, 5}}, 4928512},
      {{Pass::forward, kFloat, 32, 192, 192, 1, 17, 17, {1, 7}}, 375373824},
      {{Pass::forward, kFloat, 64, 512, 512, 32, 14, 14, {3, 3}, 1, true}, 36585600},
      {{Pass::of_input, kFloat, 32, 512, 512, 1, 7, 7, {3, 3}}, 1283457024},
      {{Pass::of_input, kFloat, 64, 48, 64, 1, 25, 25, {5, 5}, 1, true}, 62791696},
      {{Pass::of_input, kFloat, 32, 3, 32, 1, 299, 149, {3, 3}, 2}, 152621072},
      {{Pass::of_input, kFloat, 256, 3, 64, 1, 224, 112, {7, 7}, 2, true}, 1225130000},
      {{Pass::of_input, kHalf, 64, 228, 228, 228, 56, 28, {3, 3}, 2}, 51196032},
      {{Pass::of_input, kFloat, 64, 120, 120, 120, 14, 14, {9, 9}}, 5294208},
      {{Pass::of_filter, kFloat, 64, 80, 192, 1, 54, 52, {3, 3}}, 721158144},
      {{Pass::of_filter, kFloat, 64, 48, 24, 1, 112, 112, {1, 1}, 1, true}, 921698320},
      {{Pass::of_filter, kFloat, 64, 57, 57, 57, 28, 28, {7, 7}}, 39420032}};
  for (const SeenTransform& seen : all) {
    EXPECT_EQ(fourier_workspace(convolution(seen.shape)), seen.bytes);
  }
}

TEST(CudnnTransformsTest, HaveNoFourierThere) {
  const std::vector<Case> all{
      {Pass::forward, kFloat, 64, 64, 64, 1, 56, 28, {3, 3}, 2},  // a stride
      {Pass::of_filter, kFloat, 64, 64, 64, 1, 56, 28, {3, 3}, 2},
      {Pass::of_input, kFloat, 64, 64, 64, 1, 56, 56, {1, 1}},    // a small window
      {Pass::of_input, kFloat, 64, 64, 64, 1, 56, 8, {7, 7}, 7},  // windows side by side
      {Pass::forward, kHalf, 64, 64, 64, 1, 56, 56, {3, 3}},      // no groups
      {Pass::of_filter, kHalf, 64, 64, 64, 64, 56, 56, {3, 3}},
      {Pass::forward, kBfloat16, 64, 64, 64, 64, 56, 56, {3, 3}}};
  for (const Case& shape : all) EXPECT_FALSE(fourier_workspace(convolution(shape)));
  Convolution dilated = convolution({Pass::forward, kFloat, 64, 64, 64, 1, 56, 56, {3, 3}});
  dilated.dilations = {2, 2};
  EXPECT_FALSE(fourier_workspace(dilated));
  const Convolution line{Pass::forward, kFloat, {64, 64, 56}, {64, 64, 56}, {64, 64, 3}};
  EXPECT_FALSE(fourier_workspace(line));
}

TEST(CudnnTransformsTest, WorkInWhatWinogradsTakeOnAnH100) {
  const std::vector<SeenTransform> all{
      {{Pass::forward, kBfloat16, 64, 432, 432, 432, 14, 14, {3, 3}}, 2360448},
      {{Pass::forward, kHalf, 64, 64, 128, 2, 56, 56, {3, 3}}, 347406336},
      {{Pass::of_input, kHalf, 64, 120, 120, 120, 14, 14, {5, 5}}, 2774400},
      {{Pass::of_input, kBfloat16, 64, 128, 128, 128, 56, 56, {3, 3}}, 28902528},
      {{Pass::of_filter, kBfloat16, 64, 64, 64, 64, 112, 112, {3, 3}}, 115606656},
      {{Pass::of_filter, kBfloat16, 64, 152, 152, 152, 7, 7, {3, 3}, 1, true}, 691584},
      {{Pass::of_filter, kBfloat16, 64, 256, 256, 256, 7, 7, {5, 5}, 1, true}, 798592},
      {{Pass::of_filter, kFloat, 64, 636, 636, 636, 14, 14, {3, 3}}, 2360448},
      {{Pass::of_filter, kFloat, 64, 64, 128, 1, 56, 56, {3, 3}}, 347996160},
      {{Pass::of_filter, kFloat, 32, 128, 768, 1, 5, 1, {5, 5}}, 85835776},
      {{Pass::of_filter, kFloat, 64, 48, 64, 1, 25, 25, {5, 5}, 1, true}, 63914000},
      {{Pass::of_filter, kFloat, 32, 80, 192, 1, 73, 71, {3, 3}, 1, true}, 587315216}};
  for (const SeenTransform& seen : all) {
    EXPECT_EQ(winograd_workspace(convolution(seen.shape)), seen.bytes);
  }
}

TEST(CudnnTransformsTest, HaveNoWinogradThere) {
  const std::vector<Case> all{
      {Pass::forward, kFloat, 64, 64, 64, 64, 56, 56, {3, 3}},  // cuDNN lists one without a GPU
      {Pass::of_input, kHalf, 64, 64, 64, 1, 56, 56, {3, 3}},
      {Pass::forward, kHalf, 64, 512, 1024, 2, 14, 14, {3, 3}},
      {Pass::forward, kHalf, 64, 64, 64, 64, 56, 56, {3, 3}, 1, true},
      {Pass::of_filter, kFloat, 64, 64, 64, 64, 56, 56, {7, 7}},
      {Pass::of_filter, kFloat, 64, 64, 64, 64, 56, 28, {3, 3}, 2}};
  for (const Case& shape : all) EXPECT_FALSE(winograd_workspace(convolution(shape)));
}

TEST(CudnnDepthwiseTest, IsCompiledFirstAsOnAnH100) {
  const auto is_first = [](Pass pass, cudnnDataType_t type, std::int64_t stride, bool last) {
    return is_compiled_first(
        convolution({pass, type, 64, 64, 64, 64, 56, 56 / stride, {3, 3}, stride, last}));
  };
  EXPECT_TRUE(is_first(Pass::forward, kHalf, 2, false));
  EXPECT_TRUE(is_first(Pass::forward, kFloat, 1, true));
  EXPECT_FALSE(is_first(Pass::forward, kFloat, 1, false));  // behind one that works in nothing
  EXPECT_TRUE(is_first(Pass::of_input, kBfloat16, 1, false));
  EXPECT_FALSE(is_first(Pass::of_input, kBfloat16, 2, false));
  EXPECT_TRUE(is_first(Pass::of_input, kBfloat16, 2, true));
  EXPECT_FALSE(is_first(Pass::of_input, kFloat, 1, false));
  EXPECT_TRUE(is_first(Pass::of_filter, kBfloat16, 1, false));
  EXPECT_FALSE(is_first(Pass::of_filter, kFloat, 1, true));
  EXPECT_FALSE(is_compiled_first(  // groups of two channels
      convolution({Pass::forward, kHalf, 64, 64, 64, 32, 56, 56, {3, 3}})));
}

TEST(CudnnDepthwiseTest, SumsAFiltersGradientOf32ChannelsTogether) {
  const auto workspace = [](const Case& shape) { return compiled_workspace(convolution(shape)); };
  EXPECT_EQ(workspace({Pass::of_filter, kBfloat16, 64, 768, 768, 768, 14, 7, {3, 3}, 2, true}),
            14'155'776);
  EXPECT_EQ(workspace({Pass::of_filter, kBfloat16, 64, 120, 120, 120, 14, 14, {5, 5}, 1, true}),
            6'553'600);
  EXPECT_EQ(workspace({Pass::of_filter, kBfloat16, 128, 58, 58, 58, 28, 28, {3, 3}, 1, true}),
            2'359'296);
  EXPECT_EQ(workspace({Pass::of_filter, kBfloat16, 64, 768, 768, 768, 14, 7, {3, 3}, 2, false}), 0);
  EXPECT_EQ(workspace({Pass::forward, kBfloat16, 64, 768, 768, 768, 14, 7, {3, 3}, 2, true}), 0);
}

}  // namespace
}  // namespace headroom::dry_run
