// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/cudnn_products.h"

#include <algorithm>

#include "src/dry_run/parts.h"

namespace headroom::dry_run {
namespace {

/// A convolution of points, and how it lies in memory.
struct PointProduct {
  bool is_float;
  std::int64_t samples, inputs, outputs, points;
  bool is_aligned;  // each channel of a sample starts at 16 bytes
  bool is_padded;   // its channels, for tensor cores of 16 bits
};

constexpr std::int64_t kFewPoints = 64;  // of a sample

PointProduct point_product(const Convolution& convolution) {
  const std::int64_t each = points(convolution.input);
  return {.is_float = convolution.type == CUDNN_DATA_FLOAT,
          .samples = convolution.input[0],
          .inputs = convolution.input[1],
          .outputs = convolution.filter[0],
          .points = each,
          .is_aligned = bytes_of({convolution.type, {each}}) % 16 == 0,
          .is_padded = convolution.input[1] % 8 != 0 || convolution.filter[0] % 8 != 0};
}

ProductEngine forward(const PointProduct& product, bool channels_last) {
  // Descriptors of its tensors, for float32 alone.
  constexpr std::int64_t kDescriptors = 400;
  const std::int64_t described = product.is_float && product.points > 1 ? kDescriptors : 0;
  if (channels_last) return {described, true};
  const bool has_few = product.points > 1 && product.points <= kFewPoints;
  const std::int64_t multiplied = product.samples * product.inputs * product.outputs;
  if (product.is_float) {
    constexpr std::int64_t kMany = 27'000'000;
    return {product.is_aligned ? described : 0, !has_few || multiplied < kMany};
  }
  constexpr std::int64_t kFewOutputs = 80;
  return {0, !has_few || product.is_aligned || product.outputs <= kFewOutputs || product.is_padded};
}

ProductEngine of_input(const PointProduct& product, bool channels_last) {
  constexpr std::int64_t kDescriptors = 400;
  if (channels_last || !product.is_float) return {0, true};
  constexpr std::int64_t kManyChannels = 192;
  const bool has_few = product.points > 1 && product.points <= kFewPoints;
  return {product.is_aligned ? kDescriptors : 0,
          !has_few || std::min(product.inputs, product.outputs) <= kManyChannels};
}

/// The sums of the pieces that one product of all samples is cut into.
std::int64_t sums_of_pieces(const PointProduct& product) {
  constexpr std::int64_t kMultiprocessors = 132;  // of what was seen
  const std::int64_t tiles = parts(product.inputs, 128) * parts(product.outputs, 128);
  const std::int64_t free = std::min(product.inputs, product.outputs) <= 64 ? kMultiprocessors
                            : tiles > 2 ? 2 * kMultiprocessors / tiles
                                        : kMultiprocessors / 2;
  const std::int64_t least_piece = product.is_float ? 128 : 1280;
  const std::int64_t pieces = std::min(free, product.samples * product.points / least_piece);
  if (pieces < 2) return 0;
  return pieces * 4 * product.inputs * product.outputs + (product.is_float ? 256 : 272);
}

/// Whether a product a sample ranks first. `share`: what is summed, of the bytes of the tensors.
bool sums_samples_first(const PointProduct& product, double share) {
  constexpr std::int64_t kFewInputs = 512;
  if (product.is_aligned) {
    return share < (product.points <= kFewPoints ? 4 : product.is_float ? 1.55 : 2.5);
  }
  if (product.is_float) {
    return product.points > kFewPoints || (product.inputs <= kFewInputs && share < 4);
  }
  return share < 1.13 || (product.points <= kFewPoints && product.inputs <= 320);
}

std::optional<ProductEngine> of_filter(const PointProduct& product, bool channels_last) {
  const std::int64_t weights = product.inputs * product.outputs;
  const std::int64_t sums = 4 * product.samples * weights;
  if (product.points == 1) {
    constexpr std::int64_t kFewWeights = 45'000;  // of 16 bits
    if (!product.is_float && (weights > kFewWeights || !product.is_padded)) return std::nullopt;
    return ProductEngine{sums, false};
  }
  if (channels_last) return ProductEngine{sums_of_pieces(product), true};
  const std::int64_t element = product.is_float ? 4 : 2;
  const std::int64_t tensors =
      element * product.samples * product.points * (product.inputs + product.outputs);
  const bool is_first =
      sums_samples_first(product, static_cast<double>(sums) / static_cast<double>(tensors));
  // In 16 bits cuDNN lists no more than 40 ways, and this is not among them.
  if (!is_first && !product.is_float) return std::nullopt;
  return ProductEngine{sums, is_first};
}

}  // namespace

std::optional<ProductEngine> product_engine(const Convolution& convolution) {
  if (convolution.input.size() < 3 || bytes_of({convolution.type, {1}}) > 4 ||
      !is_of_points(convolution) || groups(convolution) > 1) {
    return std::nullopt;
  }
  const PointProduct product = point_product(convolution);
  switch (convolution.pass) {
    case ConvolutionPass::forward:
      return forward(product, convolution.channels_last);
    case ConvolutionPass::of_input:
      return of_input(product, convolution.channels_last);
    default:
      return of_filter(product, convolution.channels_last);
  }
}

}  // namespace headroom::dry_run
