// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "src/dry_run/cudnn_types.h"

namespace headroom::dry_run {

/// A convolution as a product of matrices by cuBLASLt, which cuDNN can't ask for its kernels
/// without a GPU.
struct ProductEngine {
  std::int64_t workspace_bytes = 0;
  bool is_first = false;  // of cuDNN's ranking, or else somewhere behind
};

/// None: cuDNN does not take it. It does where every point of the output comes of one point of the
/// input, without groups. The gradient of the filter is a product a sample, which are summed, or
/// one product of all samples where the channels are last in memory, of which pieces are summed.
///
/// Seen on an H100 with cuDNN 9.19, of 4086 such convolutions. Where the channels are last it ranks
/// first, but for one in four gradients of the input in float32, where others that take next to
/// nothing do; else where the points of a sample are many against what they are multiplied with.
/// How cuBLASLt cuts the one product is met within a quarter for about half of them. Its first
/// choice may take some hundred bytes more or less, and copies where channels are not whole eights.
std::optional<ProductEngine> product_engine(const Convolution& convolution);

}  // namespace headroom::dry_run
