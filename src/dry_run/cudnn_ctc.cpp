// SPDX-License-Identifier: Apache-2.0
// cuDNN's connectionist temporal classification. What it works in only cuDNN knows; estimated: the
// two tables of Graves et al. (2006), forward and backward, with a number for each step of time
// and each label of a text, with the blanks between and around them.
#include <algorithm>

#include "src/dry_run/cudnn_types.h"
#include "src/dry_run/dry_run.h"

struct cudnnCTCLossStruct {
  int longest_text = 0;  // in labels, where it is set
};

namespace headroom::dry_run {
namespace {

/// `probabilities`: (steps, samples, alphabet).
cudnnStatus_t give_size(cudnnTensorDescriptor_t probabilities, int longest_text,
                        std::size_t* bytes) {
  const auto& sizes = probabilities->sizes;
  if (sizes.size() != 3) return CUDNN_STATUS_BAD_PARAM;
  const cudnnTensorStruct tables{CUDNN_DATA_FLOAT, {2, sizes[0], sizes[1], 2 * longest_text + 1}};
  *bytes = static_cast<std::size_t>(bytes_of(tables));
  note_estimated("CTC of cuDNN");
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t compute(cudnnHandle_t handle, cudnnTensorDescriptor_t probabilities) {
  run_work(handle->stream, memory_work(dry_run().gpu, {2 * bytes_of(*probabilities)}));
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

HEADROOM_ENTRY cudnnStatus_t cudnnCreateCTCLossDescriptor(cudnnCTCLossDescriptor_t* loss) {
  *loss = new cudnnCTCLossStruct;
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnDestroyCTCLossDescriptor(cudnnCTCLossDescriptor_t loss) {
  delete loss;
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnSetCTCLossDescriptorEx(cudnnCTCLossDescriptor_t, cudnnDataType_t,
                                                         cudnnLossNormalizationMode_t,
                                                         cudnnNanPropagation_t) {
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnSetCTCLossDescriptor_v8(cudnnCTCLossDescriptor_t loss,
                                                          cudnnDataType_t,
                                                          cudnnLossNormalizationMode_t,
                                                          cudnnNanPropagation_t, int longest_text) {
  loss->longest_text = longest_text;
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnSetCTCLossDescriptor_v9(cudnnCTCLossDescriptor_t loss,
                                                          cudnnDataType_t,
                                                          cudnnLossNormalizationMode_t,
                                                          cudnnCTCGradMode_t, int longest_text) {
  loss->longest_text = longest_text;
  return CUDNN_STATUS_SUCCESS;
}

// Lengths on the host.

HEADROOM_ENTRY cudnnStatus_t cudnnGetCTCLossWorkspaceSize(
    cudnnHandle_t, const cudnnTensorDescriptor_t probabilities, const cudnnTensorDescriptor_t,
    const int*, const int* lengths, const int*, cudnnCTCLossAlgo_t, cudnnCTCLossDescriptor_t,
    std::size_t* bytes) {
  if (probabilities->sizes.size() != 3) return CUDNN_STATUS_BAD_PARAM;
  const auto* end = lengths + probabilities->sizes[1];
  return give_size(probabilities, lengths == end ? 0 : *std::max_element(lengths, end), bytes);
}

HEADROOM_ENTRY cudnnStatus_t cudnnCTCLoss(cudnnHandle_t handle,
                                          const cudnnTensorDescriptor_t probabilities, const void*,
                                          const int*, const int*, const int*, void*,
                                          const cudnnTensorDescriptor_t, void*, cudnnCTCLossAlgo_t,
                                          cudnnCTCLossDescriptor_t, void*, std::size_t) {
  return compute(handle, probabilities);
}

// Lengths on the device.

HEADROOM_ENTRY cudnnStatus_t
cudnnGetCTCLossWorkspaceSize_v8(cudnnHandle_t, cudnnCTCLossAlgo_t, cudnnCTCLossDescriptor_t loss,
                                const cudnnTensorDescriptor_t probabilities,
                                const cudnnTensorDescriptor_t, std::size_t* bytes) {
  return give_size(probabilities, loss->longest_text, bytes);
}

HEADROOM_ENTRY cudnnStatus_t cudnnCTCLoss_v8(cudnnHandle_t handle, cudnnCTCLossAlgo_t,
                                             cudnnCTCLossDescriptor_t,
                                             const cudnnTensorDescriptor_t probabilities,
                                             const void*, const int*, const int*, const int*, void*,
                                             const cudnnTensorDescriptor_t, void*, std::size_t,
                                             void*) {
  return compute(handle, probabilities);
}

}  // namespace headroom::dry_run
