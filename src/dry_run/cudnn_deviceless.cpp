// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/cudnn_deviceless.h"

namespace headroom::dry_run {
namespace {

std::int64_t element_bytes(const Convolution& convolution) {
  return bytes_of({convolution.type, {1}});
}

/// Without groups.
bool is_product(const Convolution& convolution) {
  return is_of_points(convolution) && convolution.filter[1] == convolution.input[1];
}

}  // namespace

std::optional<std::int64_t> product_workspace(const Convolution& convolution) {
  const std::int64_t element = element_bytes(convolution);
  if (convolution.input.size() < 3 || convolution.channels_last || element > 4 ||
      !is_product(convolution) || points(convolution.input) * element % 16 != 0) {
    return std::nullopt;
  }
  if (convolution.pass != ConvolutionPass::of_filter) return 0;
  const std::int64_t summed = 4 * convolution.input[0] * elements(convolution.filter);
  const std::int64_t copied =
      element * (elements(convolution.input) + elements(convolution.output));
  return summed > copied ? std::nullopt : std::optional(summed);
}

}  // namespace headroom::dry_run
