// SPDX-License-Identifier: Apache-2.0
// cuDNN's layers in the interface before graphs: convolutions, which PyTorch asks for here where
// TORCH_CUDNN_V8_API_DISABLED=1 and of which there is one algorithm each, and batch normalization,
// which lasts as long as its passes over tensors take through the device's memory.
#include <algorithm>

#include "src/dry_run/cudnn_types.h"
#include "src/dry_run/dry_run.h"

namespace headroom::dry_run {
namespace {

cudnnStatus_t convolve(cudnnHandle_t handle, cudnnConvolutionDescriptor_t convolution,
                       cudnnFilterDescriptor_t filter, cudnnTensorDescriptor_t output) {
  const bool tensor_cores = convolution->math != CUDNN_FMA_MATH;
  run_product(handle->stream, {.flops = convolution_flops(output->sizes, filter->sizes),
                               .precision = cudnn_precision(filter->type, tensor_cores),
                               .is_convolution = true});
  return CUDNN_STATUS_SUCCESS;
}

template <class Algorithm, class Performance>
cudnnStatus_t offer(Algorithm algorithm, cudnnConvolutionDescriptor_t convolution, int asked,
                    int* found, Performance* results) {
  *found = std::min(asked, 1);
  if (asked < 1) return CUDNN_STATUS_SUCCESS;
  *results = {};
  results->algo = algorithm;
  results->status = CUDNN_STATUS_SUCCESS;
  results->memory = kConvolutionWorkspaceBytes;
  note_estimated(kEnginesOfCudnn);
  results->determinism = CUDNN_DETERMINISTIC;
  results->mathType = convolution->math;
  return CUDNN_STATUS_SUCCESS;
}

/// Where the channels are last, which is what PyTorch has the persistent mode for, a pass reads
/// vectors of them, and no channel waits for a block of its own.
cudnnStatus_t pass_over(cudnnHandle_t handle, cudnnBatchNormMode_t mode,
                        cudnnTensorDescriptor_t tensor, int times) {
  if (mode == CUDNN_BATCHNORM_SPATIAL_PERSISTENT) {
    run_work(handle->stream,
             memory_work(dry_run().gpu, {times * bytes_of(*tensor)}, Access::vectors));
    return CUDNN_STATUS_SUCCESS;
  }
  const std::int64_t channels = tensor->sizes.size() > 1 ? tensor->sizes[1] : 1;
  const std::int64_t numbers = elements(tensor->sizes);
  const std::int64_t width = numbers > 0 ? bytes_of(*tensor) / numbers : 0;
  run_work(handle->stream,
           batch_norm_work(dry_run().gpu, numbers, static_cast<int>(width), channels, times));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t give_size(std::size_t* bytes, std::int64_t value) {
  *bytes = static_cast<std::size_t>(value);
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

HEADROOM_ENTRY cudnnStatus_t
cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* convolution) {
  *convolution = new cudnnConvolutionStruct;
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t
cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t convolution) {
  delete convolution;
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t convolution,
                                                         cudnnMathType_t math) {
  convolution->math = math;
  return CUDNN_STATUS_SUCCESS;
}

// Groups and windows are in the sizes of the filter, paddings and strides in those of the output.

HEADROOM_ENTRY cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t, int) {
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t, int,
                                                             const int*, const int*, const int*,
                                                             cudnnConvolutionMode_t,
                                                             cudnnDataType_t) {
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(
    cudnnHandle_t, cudnnTensorDescriptor_t, cudnnFilterDescriptor_t,
    cudnnConvolutionDescriptor_t convolution, cudnnTensorDescriptor_t, int asked, int* found,
    cudnnConvolutionFwdAlgoPerf_t* results) {
  return offer(CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, convolution, asked, found,
               results);
}

HEADROOM_ENTRY cudnnStatus_t cudnnFindConvolutionForwardAlgorithmEx(
    cudnnHandle_t, cudnnTensorDescriptor_t, const void*, cudnnFilterDescriptor_t, const void*,
    cudnnConvolutionDescriptor_t convolution, cudnnTensorDescriptor_t, void*, int asked, int* found,
    cudnnConvolutionFwdAlgoPerf_t* results, void*, std::size_t) {
  return offer(CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, convolution, asked, found,
               results);
}

HEADROOM_ENTRY cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(
    cudnnHandle_t, cudnnTensorDescriptor_t, cudnnFilterDescriptor_t, cudnnConvolutionDescriptor_t,
    cudnnTensorDescriptor_t, cudnnConvolutionFwdAlgo_t, std::size_t* bytes) {
  return give_size(bytes, kConvolutionWorkspaceBytes);
}

HEADROOM_ENTRY cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void*,
                                                     cudnnTensorDescriptor_t, const void*,
                                                     cudnnFilterDescriptor_t filter, const void*,
                                                     cudnnConvolutionDescriptor_t convolution,
                                                     cudnnConvolutionFwdAlgo_t, void*, std::size_t,
                                                     const void*, cudnnTensorDescriptor_t output,
                                                     void*) {
  return convolve(handle, convolution, filter, output);
}

HEADROOM_ENTRY cudnnStatus_t cudnnConvolutionBiasActivationForward(
    cudnnHandle_t handle, const void*, cudnnTensorDescriptor_t, const void*,
    cudnnFilterDescriptor_t filter, const void*, cudnnConvolutionDescriptor_t convolution,
    cudnnConvolutionFwdAlgo_t, void*, std::size_t, const void*, cudnnTensorDescriptor_t,
    const void*, cudnnTensorDescriptor_t, const void*, cudnnActivationDescriptor_t,
    cudnnTensorDescriptor_t output, void*) {
  return convolve(handle, convolution, filter, output);
}

HEADROOM_ENTRY cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(
    cudnnHandle_t, cudnnFilterDescriptor_t, cudnnTensorDescriptor_t,
    cudnnConvolutionDescriptor_t convolution, cudnnTensorDescriptor_t, int asked, int* found,
    cudnnConvolutionBwdDataAlgoPerf_t* results) {
  return offer(CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, convolution, asked, found, results);
}

HEADROOM_ENTRY cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithmEx(
    cudnnHandle_t, cudnnFilterDescriptor_t, const void*, cudnnTensorDescriptor_t, const void*,
    cudnnConvolutionDescriptor_t convolution, cudnnTensorDescriptor_t, void*, int asked, int* found,
    cudnnConvolutionBwdDataAlgoPerf_t* results, void*, std::size_t) {
  return offer(CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, convolution, asked, found, results);
}

HEADROOM_ENTRY cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(
    cudnnHandle_t, cudnnFilterDescriptor_t, cudnnTensorDescriptor_t, cudnnConvolutionDescriptor_t,
    cudnnTensorDescriptor_t, cudnnConvolutionBwdDataAlgo_t, std::size_t* bytes) {
  return give_size(bytes, kConvolutionWorkspaceBytes);
}

HEADROOM_ENTRY cudnnStatus_t cudnnConvolutionBackwardData(
    cudnnHandle_t handle, const void*, cudnnFilterDescriptor_t filter, const void*,
    cudnnTensorDescriptor_t output, const void*, cudnnConvolutionDescriptor_t convolution,
    cudnnConvolutionBwdDataAlgo_t, void*, std::size_t, const void*, cudnnTensorDescriptor_t,
    void*) {
  return convolve(handle, convolution, filter, output);
}

HEADROOM_ENTRY cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    cudnnHandle_t, cudnnTensorDescriptor_t, cudnnTensorDescriptor_t,
    cudnnConvolutionDescriptor_t convolution, cudnnFilterDescriptor_t, int asked, int* found,
    cudnnConvolutionBwdFilterAlgoPerf_t* results) {
  return offer(CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, convolution, asked, found, results);
}

HEADROOM_ENTRY cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithmEx(
    cudnnHandle_t, cudnnTensorDescriptor_t, const void*, cudnnTensorDescriptor_t, const void*,
    cudnnConvolutionDescriptor_t convolution, cudnnFilterDescriptor_t, void*, int asked, int* found,
    cudnnConvolutionBwdFilterAlgoPerf_t* results, void*, std::size_t) {
  return offer(CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, convolution, asked, found, results);
}

HEADROOM_ENTRY cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t, cudnnTensorDescriptor_t, cudnnTensorDescriptor_t, cudnnConvolutionDescriptor_t,
    cudnnFilterDescriptor_t, cudnnConvolutionBwdFilterAlgo_t, std::size_t* bytes) {
  return give_size(bytes, kConvolutionWorkspaceBytes);
}

HEADROOM_ENTRY cudnnStatus_t cudnnConvolutionBackwardFilter(
    cudnnHandle_t handle, const void*, cudnnTensorDescriptor_t, const void*,
    cudnnTensorDescriptor_t output, const void*, cudnnConvolutionDescriptor_t convolution,
    cudnnConvolutionBwdFilterAlgo_t, void*, std::size_t, const void*,
    cudnnFilterDescriptor_t filter, void*) {
  return convolve(handle, convolution, filter, output);
}

HEADROOM_ENTRY cudnnStatus_t cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
    cudnnHandle_t, cudnnBatchNormMode_t, cudnnBatchNormOps_t, cudnnTensorDescriptor_t,
    cudnnTensorDescriptor_t, cudnnTensorDescriptor_t, cudnnTensorDescriptor_t,
    cudnnActivationDescriptor_t, std::size_t* bytes) {
  return give_size(bytes, kBatchNormWorkspaceBytes);
}

HEADROOM_ENTRY cudnnStatus_t cudnnGetBatchNormalizationBackwardExWorkspaceSize(
    cudnnHandle_t, cudnnBatchNormMode_t, cudnnBatchNormOps_t, cudnnTensorDescriptor_t,
    cudnnTensorDescriptor_t, cudnnTensorDescriptor_t, cudnnTensorDescriptor_t,
    cudnnTensorDescriptor_t, cudnnTensorDescriptor_t, cudnnActivationDescriptor_t,
    std::size_t* bytes) {
  return give_size(bytes, kBatchNormWorkspaceBytes);
}

HEADROOM_ENTRY cudnnStatus_t cudnnGetBatchNormalizationTrainingExReserveSpaceSize(
    cudnnHandle_t, cudnnBatchNormMode_t, cudnnBatchNormOps_t, cudnnActivationDescriptor_t,
    cudnnTensorDescriptor_t, std::size_t* bytes) {
  return give_size(bytes, kBatchNormReserveBytes);
}

HEADROOM_ENTRY cudnnStatus_t cudnnBatchNormalizationForwardInference(
    cudnnHandle_t handle, cudnnBatchNormMode_t, const void*, const void*, cudnnTensorDescriptor_t x,
    const void*, cudnnTensorDescriptor_t, void*, cudnnTensorDescriptor_t, const void*, const void*,
    const void*, const void*, double) {
  run_work(handle->stream, memory_work(dry_run().gpu, {2 * bytes_of(*x)}));  // x and y
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnBatchNormalizationForwardTrainingEx(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, cudnnBatchNormOps_t, const void*, const void*,
    cudnnTensorDescriptor_t x, const void*, cudnnTensorDescriptor_t, const void*,
    cudnnTensorDescriptor_t, void*, cudnnTensorDescriptor_t, const void*, const void*, double,
    void*, void*, double, void*, void*, cudnnActivationDescriptor_t, void*, std::size_t, void*,
    std::size_t) {
  return pass_over(handle, mode, x, /*times=*/3);  // x twice, and y
}

HEADROOM_ENTRY cudnnStatus_t cudnnBatchNormalizationBackwardEx(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, cudnnBatchNormOps_t, const void*, const void*,
    const void*, const void*, cudnnTensorDescriptor_t x, const void*, cudnnTensorDescriptor_t,
    const void*, cudnnTensorDescriptor_t, const void*, cudnnTensorDescriptor_t, void*,
    cudnnTensorDescriptor_t, void*, cudnnTensorDescriptor_t, const void*, const void*, void*, void*,
    double, const void*, const void*, cudnnActivationDescriptor_t, void*, std::size_t, void*,
    std::size_t) {
  return pass_over(handle, mode, x, /*times=*/5);  // x and dy twice, and dx
}

}  // namespace headroom::dry_run
