// SPDX-License-Identifier: Apache-2.0
// Work areas on an H100 with cuDNN 9.19, less those that cuDNN gave of the same without a GPU.
#include "src/dry_run/cudnn_partial_sums.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace headroom::dry_run {
namespace {

using Pass = ConvolutionPass;

struct Knobs {
  std::int64_t tile, without_sums, cluster_rows, cluster_columns;
};

struct Seen {
  Convolution convolution;
  Knobs knobs;
  std::int64_t missing;
};

KnobValues values(const Knobs& knobs) {
  return {{CUDNN_KNOB_TYPE_TILE_SIZE, knobs.tile},
          {CUDNN_KNOB_TYPE_WORKSPACE, knobs.without_sums},
          {CUDNN_KNOB_TYPE_TILE_CGA_M, knobs.cluster_rows},
          {CUDNN_KNOB_TYPE_TILE_CGA_N, knobs.cluster_columns}};
}

constexpr std::int64_t kH100 = 132;

TEST(CudnnPartialSumsTest, AreThoseOfAnH100) {
  const std::vector<Seen> all{
      // Clusters of 8, 2, 4 and 16 tiles of the forward pass, most of them behind a full turn.
      {{Pass::forward, CUDNN_DATA_FLOAT, {64, 256, 28, 28}, {64, 512, 28, 28}, {512, 256, 3, 3}},
       {0, 0, 8, 1},
       7864832},
      {{Pass::forward, CUDNN_DATA_HALF, {64, 80, 54, 54}, {64, 192, 52, 52}, {192, 80, 3, 3}},
       {20, 0, 4, 1},
       4718688},
      {{Pass::forward, CUDNN_DATA_HALF, {64, 160, 14, 14}, {64, 320, 14, 14}, {320, 160, 3, 3}},
       {18, 0, 8, 1},
       5898752},
      {{Pass::forward, CUDNN_DATA_BFLOAT16, {64, 1024, 7, 7}, {64, 1280, 4, 4}, {1280, 1024, 3, 3}},
       {1, 0, 2, 4},
       2621628},
      // Three dimensions, and strides.
      {{Pass::forward,
        CUDNN_DATA_FLOAT,
        {8, 256, 4, 14, 14},
        {8, 921, 4, 7, 7},
        {921, 256, 1, 3, 3}},
       {3, 0, 1, 2},
       12320900},
      {{Pass::of_input,
        CUDNN_DATA_FLOAT,
        {16, 128, 8, 28, 28},
        {16, 128, 8, 28, 28},
        {128, 128, 3, 3, 3}},
       {1, 0, 1, 3},
       3539504},
      {{Pass::of_input, CUDNN_DATA_FLOAT, {64, 80, 54, 54}, {64, 192, 52, 52}, {192, 80, 3, 3}},
       {1, 0, 1, 3},
       2949332},
      // One dimension: neither cuts a tile, and without a GPU three turns are taken.
      {{Pass::of_input, CUDNN_DATA_FLOAT, {64, 3, 152}, {64, 1, 152}, {1, 3, 1}},
       {1, 0, 1, 3},
       -131},
      // Fewer are cut than without a GPU.
      {{Pass::of_input, CUDNN_DATA_HALF, {64, 272, 7, 7}, {64, 1632, 7, 7}, {1632, 272, 1, 1}},
       {4, 0, 1, 3},
       -1179883},
      // Gradients of the filter: few tiles, long sums.
      {{Pass::of_filter, CUDNN_DATA_BFLOAT16, {64, 32, 56, 56}, {64, 128, 56, 56}, {128, 32, 1, 1}},
       {9, 0, 5, 1},
       6226320},
      {{Pass::of_filter,
        CUDNN_DATA_BFLOAT16,
        {64, 256, 56, 56},
        {64, 512, 28, 28},
        {512, 256, 1, 1}},
       {7, 0, 4, 4},
       3146271},
      {{Pass::of_filter, CUDNN_DATA_HALF, {32, 512, 28, 28}, {32, 128, 28, 28}, {128, 512, 1, 1}},
       {6, 0, 1, 2},
       3670120},
      {{Pass::of_filter, CUDNN_DATA_HALF, {64, 432, 14, 14}, {64, 84, 14, 14}, {84, 432, 1, 1}},
       {5, 0, 2, 7},
       1606183},
      {{Pass::of_filter, CUDNN_DATA_FLOAT, {64, 160, 7, 7}, {64, 960, 7, 7}, {960, 160, 1, 1}},
       {7, 0, 1, 2},
       3932679},
      {{Pass::of_filter, CUDNN_DATA_FLOAT, {64, 24, 112, 112}, {64, 24, 112, 112}, {24, 24, 1, 1}},
       {5, 0, 1, 1},
       1802668},
      // Groups of few channels, together; of many, one after the other.
      {{Pass::of_filter, CUDNN_DATA_BFLOAT16, {64, 256, 56, 56}, {64, 256, 28, 28}, {256, 8, 3, 3}},
       {5, 0, 1, 6},
       1573084},
      {{Pass::of_input, CUDNN_DATA_HALF, {64, 512, 14, 14}, {64, 1024, 14, 14}, {1024, 256, 3, 3}},
       {3, 1, 1, 1},
       -288},
      // Without sums: a counter alone.
      {{Pass::of_filter,
        CUDNN_DATA_BFLOAT16,
        {256, 2048, 7, 7},
        {256, 512, 7, 7},
        {512, 2048, 1, 1}},
       {0, 1, 1, 8},
       -131}};
  for (const Seen& seen : all) {
    EXPECT_EQ(missing_partial_sums(seen.convolution, values(seen.knobs), kH100), seen.missing);
  }
}

const Convolution kConvolution{
    Pass::of_filter, CUDNN_DATA_FLOAT, {64, 160, 7, 7}, {64, 960, 7, 7}, {960, 160, 1, 1}};

TEST(CudnnPartialSumsTest, AreNotMissingWhereCudnnAssumesNoLess) {
  EXPECT_EQ(missing_partial_sums(kConvolution, values({7, 0, 1, 2}), 18), 0);
}

TEST(CudnnPartialSumsTest, AreOfEnginesWithClusters) {
  EXPECT_EQ(missing_partial_sums(kConvolution, {{CUDNN_KNOB_TYPE_TILE_SIZE, 7}}, kH100), 0);
  EXPECT_EQ(missing_partial_sums(kConvolution, values({11, 0, 1, 2}), kH100), 0);  // a tile unknown
}

}  // namespace
}  // namespace headroom::dry_run
