// SPDX-License-Identifier: Apache-2.0
// The sizes of tensors and convolutions.
#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include "src/dry_run/cudnn_types.h"
#include "src/dry_run/parts.h"

namespace headroom::dry_run {
namespace {

constexpr std::int64_t kBlockOfChannels = 64;

/// Channels of a group with those that fill it up: to a power of two, or to whole blocks. cuDNN
/// asks for as much memory for 24 as for 32, and for 40 as for 64.
std::int64_t filled(std::int64_t channels) {
  const auto power = std::bit_ceil(static_cast<std::uint64_t>(channels));
  return std::min(static_cast<std::int64_t>(power), whole_parts(channels, kBlockOfChannels));
}

}  // namespace

std::int64_t elements(const std::vector<std::int64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

std::int64_t bytes_of(const cudnnTensorStruct& tensor) {
  switch (tensor.type) {
    case CUDNN_DATA_DOUBLE:
      return 8 * elements(tensor.sizes);
    case CUDNN_DATA_HALF:
    case CUDNN_DATA_BFLOAT16:
      return 2 * elements(tensor.sizes);
    default:
      return 4 * elements(tensor.sizes);
  }
}

std::int64_t convolution_flops(const std::vector<std::int64_t>& output,
                               const std::vector<std::int64_t>& filter) {
  if (filter.empty() || filter.front() == 0) return 0;
  return 2 * elements(output) * (elements(filter) / filter.front());
}

std::int64_t points(const std::vector<std::int64_t>& sizes) {
  return elements({sizes.begin() + 2, sizes.end()});
}

bool is_of_points(const Convolution& convolution) {
  const auto is_one = [](std::int64_t size) { return size == 1; };
  return std::all_of(convolution.filter.begin() + 2, convolution.filter.end(), is_one) &&
         std::equal(convolution.input.begin() + 2, convolution.input.end(),
                    convolution.output.begin() + 2, convolution.output.end());
}

std::int64_t groups(const Convolution& convolution) {
  return convolution.input[1] / convolution.filter[1];
}

FilledFlops filled_flops(const Convolution& convolution) {
  const std::vector<std::int64_t>& filter = convolution.filter;
  const std::int64_t groups = std::max<std::int64_t>(1, dry_run::groups(convolution));
  std::int64_t flops = convolution_flops(convolution.output, filter);
  std::int64_t inputs = filter[1];
  std::int64_t outputs = filter[0] / groups;
  if (inputs == 0 || outputs == 0) return {flops, flops};
  if (groups > 1) {
    flops = flops / (inputs * outputs) * filled(inputs) * filled(outputs);
    inputs = filled(inputs);
    outputs = filled(outputs);
  }
  const std::int64_t channels = std::min(inputs, outputs);
  return {
      .lanes = flops,
      .tensor_cores = channels < kBlockOfChannels ? flops / channels * kBlockOfChannels : flops};
}

std::int64_t instructions_of_wide_windows(const Convolution& convolution) {
  constexpr std::int64_t kMostOfNarrow = 5;
  // Of each place (docs/time_compared.md).
  constexpr std::int64_t kForward = 16;
  constexpr std::int64_t kOfGradient = 78;
  const std::vector<std::int64_t>& filter = convolution.filter;
  const std::vector<std::int64_t>& output = convolution.output;
  const bool is_wide = *std::max_element(filter.begin() + 2, filter.end()) > kMostOfNarrow;
  const bool is_depthwise = filter[1] == 1 && groups(convolution) > 1;
  const bool is_forward = convolution.pass == ConvolutionPass::forward;
  if (!is_wide || !is_depthwise || (!is_forward && convolution.type != CUDNN_DATA_FLOAT)) return 0;
  const std::int64_t channels = whole_parts(output[1], kBlockOfChannels);
  const std::int64_t places = output[0] * channels * points(output) * points(filter);
  return places * (is_forward ? kForward : kOfGradient);
}

}  // namespace headroom::dry_run
