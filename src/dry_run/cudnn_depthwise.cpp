// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/cudnn_depthwise.h"

#include "src/dry_run/parts.h"

namespace headroom::dry_run {

bool is_compiled_first(const Convolution& convolution) {
  const bool is_depthwise = convolution.input.size() == 4 && convolution.filter[1] == 1 &&
                            convolution.input[1] > 1 &&
                            convolution.filter[0] == convolution.input[1];
  if (!is_depthwise || convolution.strides.size() != 2) return false;
  const bool is_float = convolution.type == CUDNN_DATA_FLOAT;
  switch (convolution.pass) {
    case ConvolutionPass::forward:
      return !is_float || convolution.channels_last;
    case ConvolutionPass::of_input:
      return convolution.channels_last || (!is_float && convolution.strides[0] == 1);
    default:
      return !is_float;
  }
}

std::int64_t compiled_workspace(const Convolution& convolution) {
  if (convolution.pass != ConvolutionPass::of_filter || !convolution.channels_last) return 0;
  constexpr std::int64_t kSumsOfSample = 8;
  constexpr std::int64_t kSumBytes = 4;
  constexpr std::int64_t kChannels = 32;
  const std::int64_t channels = whole_parts(convolution.filter[0], kChannels);
  return kSumsOfSample * kSumBytes * convolution.input[0] * channels * points(convolution.filter);
}

}  // namespace headroom::dry_run
