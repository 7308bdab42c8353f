// SPDX-License-Identifier: Apache-2.0
// Of an H100 with cuDNN 9.19.
#include "src/dry_run/cudnn_products.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace headroom::dry_run {
namespace {

using Pass = ConvolutionPass;

struct Shape {
  std::int64_t samples, inputs, outputs, points;  // in one line of a picture
};

Convolution convolution(Pass pass, cudnnDataType_t type, Shape shape, bool channels_last = false) {
  return {.pass = pass,
          .type = type,
          .input = {shape.samples, shape.inputs, 1, shape.points},
          .output = {shape.samples, shape.outputs, 1, shape.points},
          .filter = {shape.outputs, shape.inputs, 1, 1},
          .channels_last = channels_last};
}

struct SeenProduct {
  Convolution convolution;
  bool is_first;
  std::int64_t workspace_bytes;
};

TEST(CudnnProductsTest, RankAsOnAnH100) {
  const std::vector<SeenProduct> all{
      {convolution(Pass::forward, CUDNN_DATA_FLOAT, {32, 256, 64, 3136}), true, 400},
      {convolution(Pass::forward, CUDNN_DATA_FLOAT, {64, 792, 132, 49}), true, 0},
      {convolution(Pass::forward, CUDNN_DATA_FLOAT, {128, 464, 1024, 49}), false, 0},
      {convolution(Pass::forward, CUDNN_DATA_FLOAT, {64, 448, 1792, 49}, true), true, 400},
      {convolution(Pass::forward, CUDNN_DATA_HALF, {64, 480, 128, 784}), true, 0},
      {convolution(Pass::forward, CUDNN_DATA_HALF, {64, 256, 256, 49}), false, 0},
      {convolution(Pass::forward, CUDNN_DATA_HALF, {64, 151, 906, 49}), true, 0},
      {convolution(Pass::forward, CUDNN_DATA_BFLOAT16, {64, 256, 1024, 49}, true), true, 0},
      {convolution(Pass::of_input, CUDNN_DATA_FLOAT, {32, 64, 64, 3136}), true, 400},
      {convolution(Pass::of_input, CUDNN_DATA_HALF, {64, 288, 128, 196}), true, 0},
      {convolution(Pass::of_input, CUDNN_DATA_BFLOAT16, {64, 800, 128, 49}, true), true, 0}};
  for (const SeenProduct& seen : all) {
    const auto engine = product_engine(seen.convolution);
    ASSERT_TRUE(engine);
    EXPECT_EQ(engine->is_first, seen.is_first);
    EXPECT_EQ(engine->workspace_bytes, seen.workspace_bytes);
  }
}

TEST(CudnnProductsTest, SumGradientsOfTheFilterAsOnAnH100) {
  const std::vector<SeenProduct> all{
      {convolution(Pass::of_filter, CUDNN_DATA_FLOAT, {64, 608, 128, 196}), true, 19922944},
      {convolution(Pass::of_filter, CUDNN_DATA_FLOAT, {128, 1024, 512, 196}), false, 268435456},
      {convolution(Pass::of_filter, CUDNN_DATA_FLOAT, {64, 185, 1280, 49}), true, 60620800},
      {convolution(Pass::of_filter, CUDNN_DATA_FLOAT, {64, 832, 48, 49}), false, 10223616},
      {convolution(Pass::of_filter, CUDNN_DATA_FLOAT, {64, 448, 1792, 49}), false, 205520896},
      {convolution(Pass::of_filter, CUDNN_DATA_FLOAT, {64, 2688, 112, 1}), false, 77070336},
      {convolution(Pass::of_filter, CUDNN_DATA_HALF, {64, 480, 128, 784}), true, 15728640},
      {convolution(Pass::of_filter, CUDNN_DATA_BFLOAT16, {64, 256, 256, 49}), true, 16777216},
      {convolution(Pass::of_filter, CUDNN_DATA_HALF, {64, 20, 240, 1}), false, 1228800},
      {convolution(Pass::of_filter, CUDNN_DATA_FLOAT, {64, 480, 128, 196}, true), true, 16220416},
      {convolution(Pass::of_filter, CUDNN_DATA_FLOAT, {32, 64, 128, 3136}, true), true, 4325632},
      {convolution(Pass::of_filter, CUDNN_DATA_BFLOAT16, {64, 384, 128, 196}, true), true,
       1769744}};
  for (const SeenProduct& seen : all) {
    const auto engine = product_engine(seen.convolution);
    ASSERT_TRUE(engine);
    EXPECT_EQ(engine->is_first, seen.is_first);
    EXPECT_EQ(engine->workspace_bytes, seen.workspace_bytes);
  }
  EXPECT_FALSE(product_engine(
      convolution(Pass::of_filter, CUDNN_DATA_HALF, {64, 1024, 512, 196})));  // others rank higher
  EXPECT_FALSE(
      product_engine(convolution(Pass::of_filter, CUDNN_DATA_BFLOAT16, {64, 256, 128, 1})));
}

TEST(CudnnProductsTest, AreOfPointsWithoutGroups) {
  Convolution window = convolution(Pass::forward, CUDNN_DATA_FLOAT, {64, 64, 64, 784});
  window.filter.back() = 3;
  EXPECT_FALSE(product_engine(window));
  Convolution strided = convolution(Pass::forward, CUDNN_DATA_FLOAT, {64, 64, 64, 784});
  strided.output.back() = 392;
  EXPECT_FALSE(product_engine(strided));
  Convolution grouped = convolution(Pass::forward, CUDNN_DATA_FLOAT, {64, 64, 64, 784});
  grouped.filter[1] = 32;
  EXPECT_FALSE(product_engine(grouped));
  EXPECT_FALSE(product_engine(convolution(Pass::forward, CUDNN_DATA_DOUBLE, {64, 64, 64, 784})));
}

}  // namespace
}  // namespace headroom::dry_run
