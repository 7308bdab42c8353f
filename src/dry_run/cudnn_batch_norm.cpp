// SPDX-License-Identifier: Apache-2.0
// cuDNN: batch normalization, forward and backward. It lasts as long as its tensors take through
// the device's memory.
#include "src/dry_run/cudnn_types.h"
#include "src/dry_run/dry_run.h"

using namespace headroom::dry_run;

namespace {

cudnnStatus_t pass_over(cudnnHandle_t handle, cudnnTensorDescriptor_t tensor, int times) {
  run_work(handle->stream, memory_ns(dry_run().gpu, times * bytes_of(*tensor)));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t answer(std::size_t* bytes, std::int64_t value) {
  *bytes = static_cast<std::size_t>(value);
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

HEADROOM_ENTRY cudnnStatus_t cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
    cudnnHandle_t, cudnnBatchNormMode_t, cudnnBatchNormOps_t, cudnnTensorDescriptor_t,
    cudnnTensorDescriptor_t, cudnnTensorDescriptor_t, cudnnTensorDescriptor_t,
    cudnnActivationDescriptor_t, std::size_t* bytes) {
  return answer(bytes, kBatchNormWorkspaceBytes);
}

HEADROOM_ENTRY cudnnStatus_t cudnnGetBatchNormalizationBackwardExWorkspaceSize(
    cudnnHandle_t, cudnnBatchNormMode_t, cudnnBatchNormOps_t, cudnnTensorDescriptor_t,
    cudnnTensorDescriptor_t, cudnnTensorDescriptor_t, cudnnTensorDescriptor_t,
    cudnnTensorDescriptor_t, cudnnTensorDescriptor_t, cudnnActivationDescriptor_t,
    std::size_t* bytes) {
  return answer(bytes, kBatchNormWorkspaceBytes);
}

HEADROOM_ENTRY cudnnStatus_t cudnnGetBatchNormalizationTrainingExReserveSpaceSize(
    cudnnHandle_t, cudnnBatchNormMode_t, cudnnBatchNormOps_t, cudnnActivationDescriptor_t,
    cudnnTensorDescriptor_t, std::size_t* bytes) {
  return answer(bytes, kBatchNormReserveBytes);
}

HEADROOM_ENTRY cudnnStatus_t cudnnBatchNormalizationForwardInference(
    cudnnHandle_t handle, cudnnBatchNormMode_t, const void*, const void*, cudnnTensorDescriptor_t x,
    const void*, cudnnTensorDescriptor_t, void*, cudnnTensorDescriptor_t, const void*, const void*,
    const void*, const void*, double) {
  return pass_over(handle, x, /*times=*/2);  // x and y
}

HEADROOM_ENTRY cudnnStatus_t cudnnBatchNormalizationForwardTrainingEx(
    cudnnHandle_t handle, cudnnBatchNormMode_t, cudnnBatchNormOps_t, const void*, const void*,
    cudnnTensorDescriptor_t x, const void*, cudnnTensorDescriptor_t, const void*,
    cudnnTensorDescriptor_t, void*, cudnnTensorDescriptor_t, const void*, const void*, double,
    void*, void*, double, void*, void*, cudnnActivationDescriptor_t, void*, std::size_t, void*,
    std::size_t) {
  return pass_over(handle, x, /*times=*/2);  // x and y
}

HEADROOM_ENTRY cudnnStatus_t cudnnBatchNormalizationBackwardEx(
    cudnnHandle_t handle, cudnnBatchNormMode_t, cudnnBatchNormOps_t, const void*, const void*,
    const void*, const void*, cudnnTensorDescriptor_t x, const void*, cudnnTensorDescriptor_t,
    const void*, cudnnTensorDescriptor_t, const void*, cudnnTensorDescriptor_t, void*,
    cudnnTensorDescriptor_t, void*, cudnnTensorDescriptor_t, const void*, const void*, void*, void*,
    double, const void*, const void*, cudnnActivationDescriptor_t, void*, std::size_t, void*,
    std::size_t) {
  return pass_over(handle, x, /*times=*/3);  // x, dy and dx
}
