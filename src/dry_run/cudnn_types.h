// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cudnn.h>

#include <cstdint>
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

// What cuDNN's engines take of the caller's memory while they work, in bytes. cuDNN chooses among
// its engines by rules that no document gives and that were not measured here, so these are lower
// bounds: what PyTorch and the front end of cuDNN take for themselves is exact, an engine's own
// share is missing from a peak. Implicit products, which most convolutions of training are, need
// none.
inline constexpr std::int64_t kConvolutionWorkspaceBytes = 0;
inline constexpr std::int64_t kGraphWorkspaceBytes = 0;  // convolutions and attention, as graphs
inline constexpr std::int64_t kBatchNormWorkspaceBytes = 0;
/// Kept from forward to backward: the mask of a fused activation, of which PyTorch uses none.
inline constexpr std::int64_t kBatchNormReserveBytes = 0;

std::int64_t elements(const std::vector<std::int64_t>& sizes);
std::int64_t bytes_of(const cudnnTensorStruct& tensor);

/// The operations of a convolution, and of either of its gradients: they multiply the same pairs of
/// numbers. `output`: the sizes of what the forward pass gives.
std::int64_t convolution_flops(const std::vector<std::int64_t>& output,
                               const std::vector<std::int64_t>& filter);

/// `tensor_cores` says whether fp32 may be rounded to TF32.
Precision cudnn_precision(cudnnDataType_t type, bool tensor_cores);

}  // namespace headroom::dry_run
