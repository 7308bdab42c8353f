// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/cudnn_transforms.h"

#include <algorithm>
#include <bit>

#include "src/dry_run/parts.h"

namespace headroom::dry_run {
namespace {

constexpr std::int64_t kUnit = 16;  // of what is placed into the work area

std::int64_t aligned(std::int64_t bytes) { return whole_parts(bytes, kUnit); }

/// A convolution of two dimensions, of so many groups at a time.
struct Pictures {
  ConvolutionPass pass;
  std::int64_t element;
  std::int64_t samples, inputs, outputs, groups;
  std::int64_t rows, columns;                // of the input
  std::int64_t result_rows, result_columns;  // of the forward pass
  std::int64_t window_rows, window_columns;
  bool copies_filter, copies_tensors;
};

bool is_of_stride_one(const Convolution& convolution) {
  return std::ranges::all_of(convolution.strides, [](std::int64_t stride) { return stride == 1; });
}

std::optional<Pictures> pictures_of(const Convolution& convolution) {
  const auto is_one = [](std::int64_t size) { return size == 1; };
  if (convolution.input.size() != 4 || convolution.strides.size() != 2 ||
      convolution.padding.size() != 2 || convolution.strides[0] != convolution.strides[1] ||
      !std::ranges::all_of(convolution.dilations, is_one)) {
    return std::nullopt;
  }
  constexpr std::int64_t kGroupsAtATime = 8;
  const std::vector<std::int64_t>& input = convolution.input;
  const std::vector<std::int64_t>& output = convolution.output;
  const std::vector<std::int64_t>& filter = convolution.filter;
  const std::int64_t all_groups = groups(convolution);
  const bool is_copied = convolution.channels_last && points(input) > 1;
  return Pictures{.pass = convolution.pass,
                  .element = bytes_of({convolution.type, {1}}),
                  .samples = input[0],
                  .inputs = filter[1],
                  .outputs = filter[0] / all_groups,
                  .groups = std::min(all_groups, kGroupsAtATime),
                  .rows = input[2],
                  .columns = input[3],
                  .result_rows = output[2],
                  .result_columns = output[3],
                  .window_rows = filter[2],
                  .window_columns = filter[3],
                  .copies_filter = is_copied && points(filter) > 1,
                  .copies_tensors = is_copied || all_groups > 1};
}

/// The same with each place between strides as a channel of its own.
Pictures without_stride(Pictures pictures, const Convolution& convolution) {
  constexpr std::int64_t kChannels = 8;  // they come in eights
  const std::int64_t stride = convolution.strides[0];
  const auto result = [&](std::int64_t size, std::int64_t window, std::int64_t padding) {
    return size - window + 1 + 2 * parts(padding, stride);
  };
  pictures.window_rows = parts(pictures.window_rows, stride);
  pictures.window_columns = parts(pictures.window_columns, stride);
  pictures.rows = parts(pictures.rows, stride);
  pictures.columns = parts(pictures.columns, stride);
  pictures.result_rows = result(pictures.rows, pictures.window_rows, convolution.padding[0]);
  pictures.result_columns =
      result(pictures.columns, pictures.window_columns, convolution.padding[1]);
  pictures.inputs = whole_parts(pictures.inputs * stride * stride, kChannels);
  pictures.outputs = whole_parts(pictures.outputs, kChannels);
  pictures.copies_filter = pictures.copies_tensors = true;
  return pictures;
}

std::int64_t filter_elements(const Pictures& pictures) {
  return pictures.inputs * pictures.outputs * pictures.window_rows * pictures.window_columns;
}

std::int64_t copied_bytes(const Pictures& pictures) {
  if (!pictures.copies_tensors) return 0;
  const std::int64_t inputs = pictures.inputs * pictures.rows * pictures.columns;
  const std::int64_t outputs = pictures.outputs * pictures.result_rows * pictures.result_columns;
  const std::int64_t filter = pictures.copies_filter ? filter_elements(pictures) : 0;
  // The forward pass rounds up twice.
  const std::int64_t space = pictures.pass == ConvolutionPass::forward ? kUnit : 1;
  return pictures.element * (pictures.samples * (inputs + outputs) + filter) + space;
}

/// Of the transform of a real square: half of its numbers, each of two floats.
std::int64_t transform_bytes(std::int64_t side) { return side * (side / 2 + 1) * 8; }

/// Of one group.
std::int64_t fourier_bytes(const Pictures& pictures) {
  const std::int64_t inputs = pictures.samples * pictures.inputs;
  const std::int64_t outputs = pictures.samples * pictures.outputs;
  const std::int64_t filters = pictures.inputs * pictures.outputs;
  const std::int64_t side =
      std::max(pictures.rows + pictures.window_rows, pictures.columns + pictures.window_columns) -
      1;
  if (pictures.pass == ConvolutionPass::of_input) {
    constexpr std::int64_t kSide = 32;
    const std::int64_t tiles = side <= kSide ? 1 : 2;
    return (tiles * (inputs + outputs) + filters) * transform_bytes(kSide);
  }
  // What is transformed, and the same in the order in which it is multiplied.
  constexpr std::uint64_t kLeastSide = 16;
  const std::uint64_t whole = std::bit_ceil(static_cast<std::uint64_t>(side));
  const std::int64_t tile =
      2 * transform_bytes(static_cast<std::int64_t>(std::max(kLeastSide, whole)));
  if (pictures.pass == ConvolutionPass::forward) {
    return std::max(inputs + filters, outputs) * tile + 4 * filter_elements(pictures);
  }
  return std::max(inputs + outputs, filters) * tile +
         4 * outputs * pictures.result_rows * pictures.result_columns;
}

/// 16 bits are transformed for groups alone.
bool is_transformed(const Convolution& convolution) {
  if (convolution.type == CUDNN_DATA_FLOAT) return true;
  return groups(convolution) > 1 && bytes_of({convolution.type, {1}}) == 2;
}

}  // namespace

std::optional<std::int64_t> fourier_workspace(const Convolution& convolution) {
  const auto pictures = pictures_of(convolution);
  const bool is_gradient_of_input = convolution.pass == ConvolutionPass::of_input;
  if (!pictures || !is_transformed(convolution) || convolution.type == CUDNN_DATA_BFLOAT16 ||
      (convolution.type == CUDNN_DATA_HALF && convolution.pass == ConvolutionPass::of_filter) ||
      (!is_gradient_of_input && !is_of_stride_one(convolution))) {
    return std::nullopt;
  }
  constexpr std::int64_t kLeastWindow = 3;
  const std::int64_t window = std::min(pictures->window_rows, pictures->window_columns);
  if (is_gradient_of_input && (window < kLeastWindow || window <= convolution.strides[0])) {
    return std::nullopt;
  }
  const Pictures transformed =
      is_of_stride_one(convolution) ? *pictures : without_stride(*pictures, convolution);
  return transformed.groups * aligned(fourier_bytes(transformed) + copied_bytes(transformed));
}

std::optional<std::int64_t> winograd_workspace(const Convolution& convolution) {
  constexpr std::int64_t kMostInputs = 32;  // of a group, in 16 bits
  const auto pictures = pictures_of(convolution);
  const bool is_float = convolution.type == CUDNN_DATA_FLOAT;
  const bool is_gradient_of_filter = convolution.pass == ConvolutionPass::of_filter;
  if (!pictures || !is_transformed(convolution) || !is_of_stride_one(convolution) ||
      (is_float && !is_gradient_of_filter) || (!is_float && pictures->inputs > kMostInputs) ||
      (convolution.channels_last && !is_gradient_of_filter) ||
      pictures->window_rows != pictures->window_columns) {
    return std::nullopt;
  }
  const std::int64_t window = pictures->window_rows;
  if (window != 3 && window != 5) return std::nullopt;
  const std::int64_t tile = window == 3 ? 4 : 9;
  const bool is_of_input = convolution.pass == ConvolutionPass::of_input;
  const std::int64_t tiles =
      pictures->samples * parts(is_of_input ? pictures->rows : pictures->result_rows, tile) *
      parts(is_of_input ? pictures->columns : pictures->result_columns, tile);
  const std::int64_t transformed =
      tiles * (pictures->inputs + pictures->outputs) + pictures->inputs * pictures->outputs;
  const std::int64_t side = tile + window - 1;
  // Tensors of groups are not copied for it.
  const std::int64_t copied = convolution.channels_last ? copied_bytes(*pictures) : 0;
  return pictures->groups * aligned(aligned(4 * side * side * transformed) + copied);
}

}  // namespace headroom::dry_run
