// SPDX-License-Identifier: Apache-2.0
// Convolutions and their gradients in cuDNN's graphs of operations: their work, and the copies that
// they may work on.
#include <algorithm>
#include <cstring>

#include "src/dry_run/cudnn_types.h"
#include "src/dry_run/dry_run.h"

namespace headroom::dry_run {
namespace {

/// The names of a convolution's parts: of a gradient, those of what it is the gradient of.
struct Form {
  ConvolutionPass pass;
  cudnnBackendDescriptorType_t type;
  cudnnBackendAttributeName_t input, filter, output, description;
};

constexpr Form kForward{ConvolutionPass::forward,
                        CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC};
constexpr Form kForms[] = {
    kForward,
    {ConvolutionPass::of_input, CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC},
    {ConvolutionPass::of_filter, CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC}};

const Form* form_of(const GraphPart& operation) {
  const auto is_same = [&](const Form& form) { return form.type == operation.type; };
  const auto* found = std::find_if(std::begin(kForms), std::end(kForms), is_same);
  return found == std::end(kForms) ? nullptr : found;
}

/// Only tensors of a few dimensions have channels, and of one channel alone there is one layout.
bool has_channels_last(const GraphPart& tensor) {
  const std::vector<std::int64_t> sizes = sizes_of(&tensor);
  const std::vector<std::int64_t> strides = tensor.numbers(CUDNN_ATTR_TENSOR_STRIDES);
  return sizes.size() < 3 || strides.size() < 2 || sizes[1] == 1 || strides[1] == 1;
}

std::int64_t bytes_to_copy(const GraphPart* tensor) {
  if (tensor == nullptr || has_channels_last(*tensor)) return 0;
  return bytes_of({data_type(tensor), sizes_of(tensor)});
}

/// Whether they multiply numbers of the type; else nothing is copied.
bool runs_on_tensor_cores(cudnnDataType_t type) {
  if (type == CUDNN_DATA_FLOAT) return dry_run().gpu.tensorfloat32_flops > 0;
  return type != CUDNN_DATA_DOUBLE;
}

}  // namespace

std::optional<Convolution> convolution_of(const GraphPart& operation) {
  const Form* form = form_of(operation);
  if (form == nullptr) return std::nullopt;
  const GraphPart* input = operation.part(form->input);
  const GraphPart* description = operation.part(form->description);
  const auto described = [&](cudnnBackendAttributeName_t name) {
    return description == nullptr ? std::vector<std::int64_t>{} : description->numbers(name);
  };
  return Convolution{.pass = form->pass,
                     .type = data_type(input),
                     .input = sizes_of(input),
                     .output = sizes_of(operation.part(form->output)),
                     .filter = sizes_of(operation.part(form->filter)),
                     .channels_last = input != nullptr && has_channels_last(*input),
                     .padding = described(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS),
                     .strides = described(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES),
                     .dilations = described(CUDNN_ATTR_CONVOLUTION_DILATIONS)};
}

std::optional<GraphWork> convolution_work(const GraphPart& operation) {
  const Form* form = form_of(operation);
  if (form == nullptr) return std::nullopt;
  const Convolution convolution = *convolution_of(operation);
  const std::vector<std::int64_t>& filter = convolution.filter;
  GraphWork work{.flops = convolution_flops(convolution.output, filter),
                 .type = data_type(operation.part(form->filter)),
                 .is_convolution = true};
  work.filled = {work.flops, work.flops};
  if (filter.size() > 2 && convolution.input.size() > 2 && convolution.output.size() > 2 &&
      filter[1] > 0) {
    work.filled = filled_flops(convolution);
    work.instructions = instructions_of_wide_windows(convolution);
    // An H100 showed it of float32 alone (docs/time_rates.md).
    work.works_in_place = work.type == CUDNN_DATA_FLOAT && is_of_points(convolution);
  }
  for (const auto name : {form->input, form->filter, form->output}) {
    const GraphPart* tensor = operation.part(name);
    work.bytes += bytes_of({data_type(tensor), sizes_of(tensor)});
  }
  return work;
}

LayoutCopies layout_copies(const GraphPart& operation) {
  const Form* form = form_of(operation);
  if (form == nullptr || !runs_on_tensor_cores(data_type(operation.part(form->filter)))) return {};
  LayoutCopies copies{.of_forward = form->type == kForward.type, .bytes = 0};
  for (const auto name : {form->input, form->filter, form->output}) {
    copies.bytes += bytes_to_copy(operation.part(name));
  }
  return copies;
}

}  // namespace headroom::dry_run
