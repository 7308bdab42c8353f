// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cudnn.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "src/gpus/gpu.h"

// What cuDNN's handles point to: as much as decides how long work lasts.

struct cudnnContext {
  cudaStream_t stream = nullptr;
};

struct cudnnTensorStruct {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  std::vector<std::int64_t> sizes;
};

struct cudnnFilterStruct {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  std::vector<std::int64_t> sizes;  // (outputs, inputs of a group, ...window)
};

struct cudnnConvolutionStruct {
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
};

struct cudnnActivationStruct {};

namespace headroom::dry_run {

// What cuDNN's engines take of the caller's memory while they work, in bytes, where the program's
// own cuDNN can't be asked (ask_cudnn()). It chooses among its engines by rules that no document
// gives, so these are lower bounds: what PyTorch and the front end of cuDNN take for themselves is
// exact, an engine's own share is missing from a peak. Implicit products, which most convolutions
// of training are, need none but for copies of their tensors (layout_copies()), and those are made
// where the settings say.
inline constexpr std::int64_t kConvolutionWorkspaceBytes = 0;
inline constexpr std::int64_t kBatchNormWorkspaceBytes = 0;
inline constexpr const char* kEnginesOfCudnn = "engines of cuDNN (0)";  // to note_estimated()
/// To note_estimated(): a program that tries engines keeps the fastest, which only a GPU knows.
/// What their trials take is exact.
inline constexpr const char* kTriedEnginesOfCudnn = "engines of cuDNN that a program tries";
/// Kept from forward to backward: the mask of a fused activation, of which PyTorch uses none.
inline constexpr std::int64_t kBatchNormReserveBytes = 0;

std::int64_t elements(const std::vector<std::int64_t>& sizes);
std::int64_t bytes_of(const cudnnTensorStruct& tensor);

/// Of all dimensions behind samples and channels.
std::int64_t points(const std::vector<std::int64_t>& sizes);

/// The operations of a convolution, and of either of its gradients: they multiply the same pairs of
/// numbers. `output`: the sizes of what the forward pass gives.
std::int64_t convolution_flops(const std::vector<std::int64_t>& output,
                               const std::vector<std::int64_t>& filter);

/// `tensor_cores` says whether fp32 may be rounded to TF32.
Precision cudnn_precision(cudnnDataType_t type, bool tensor_cores);

/// One of the things that cuDNN's backend interface builds graphs and plans from: what the program
/// set on it, by name. Things hold what they refer to, so that a program may drop its own handles.
struct GraphPart {
  struct Attribute {
    cudnnBackendAttributeType_t type = CUDNN_TYPE_INT64;
    std::int64_t count = 0;
    std::vector<std::byte> values;                  // or
    std::vector<std::shared_ptr<GraphPart>> parts;  // of CUDNN_TYPE_BACKEND_DESCRIPTOR
  };

  cudnnBackendDescriptorType_t type;
  std::map<cudnnBackendAttributeName_t, Attribute> attributes;
  /// Of CUDNN_BACKEND_ENGINECFG_DESCRIPTOR: its place among those that heuristics gave, 0 the best.
  int rank = 0;
  /// Of CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR: how often it began.
  int executions = 0;

  /// The first part that the attribute refers to; null where it was not set.
  const GraphPart* part(cudnnBackendAttributeName_t name) const;
  std::shared_ptr<GraphPart> shared_part(cudnnBackendAttributeName_t name) const;
  /// The numbers of an attribute of 8-byte integers.
  std::vector<std::int64_t> numbers(cudnnBackendAttributeName_t name) const;
};

/// Of CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR.
std::vector<std::shared_ptr<GraphPart>> operations_of(const GraphPart& graph);

/// Of CUDNN_BACKEND_TENSOR_DESCRIPTOR; null: no sizes, and float.
std::vector<std::int64_t> sizes_of(const GraphPart* tensor);
cudnnDataType_t data_type(const GraphPart* tensor);

/// Operations with those that fill up blocks, by what computes them.
struct FilledFlops {
  std::int64_t lanes = 0;
  std::int64_t tensor_cores = 0;
};

/// The products and convolutions of a graph of operations.
struct GraphWork {
  std::int64_t flops = 0;
  FilledFlops filled{};
  cudnnDataType_t type = CUDNN_DATA_FLOAT;  // what is multiplied
  std::int64_t bytes = 0;                   // of the tensors of convolutions
  std::int64_t instructions = 0;            // for wide windows of depthwise convolutions
  int products = 0;                         // more than one: attention
  bool has_dropout = false;
  bool is_causal = false;
  bool is_convolution = false;
  bool works_in_place = false;  // and is a product of its tensors as they lie in memory
};

/// Counts a graph (CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR). An operation that is none of
/// convolution, product, attention, pointwise, reduction, random numbers and reshape ends as
/// not_modelled() says.
GraphWork graph_work(const GraphPart& graph);

/// Attention as one operation. `products`: two forward; five backward, which makes one of the
/// forward's again.
GraphWork attention_work(const GraphPart* q, const GraphPart* k, int products);

/// What attention works in, a graph of more than one product.
std::int64_t attention_bytes(const GraphPart& graph);

enum class ConvolutionPass { forward, of_input, of_filter };  // a gradient of one of these

/// A convolution or a gradient of it, by the tensors of the forward pass.
struct Convolution {
  ConvolutionPass pass;
  cudnnDataType_t type;
  std::vector<std::int64_t> input, output;  // (samples, channels, ...)
  std::vector<std::int64_t> filter;         // (outputs, inputs of a group, ...)
  bool channels_last = false;
  std::vector<std::int64_t> padding = {}, strides = {}, dilations = {};  // of all but the first two
};

/// Of three dimensions and more: every point of the output comes of the same point of the input.
bool is_of_points(const Convolution& convolution);

/// Of its channels.
std::int64_t groups(const Convolution& convolution);

/// Of a convolution: groups are filled up on both sides, and for tensor cores the narrower side to
/// 64 channels.
FilledFlops filled_flops(const Convolution& convolution);

/// Of a depthwise convolution whose windows are wider than 5, with channels that fill up blocks of
/// 64: what lanes execute for the places of all its windows, forward, and for gradients of 32 bits.
/// Else 0: narrow windows take no longer than what they move, and what gradients of wide ones of 16
/// bits take is not known here.
std::int64_t instructions_of_wide_windows(const Convolution& convolution);

/// Of one operation; none: it is no convolution.
std::optional<Convolution> convolution_of(const GraphPart& operation);
std::optional<GraphWork> convolution_work(const GraphPart& operation);

/// Tensor cores want the channels of a tensor last in memory. Where they are not, cuDNN copies what
/// it works on, and its result ("Tensor Transformations" in its documentation); which of its
/// engines do, it does not say. Only the channels' place is looked at, not the padding of their
/// number.
struct LayoutCopies {
  bool of_forward = false;  // or of a gradient
  std::int64_t bytes = 0;   // of all tensors of the operation that would be copied
};
LayoutCopies layout_copies(const GraphPart& operation);

}  // namespace headroom::dry_run
