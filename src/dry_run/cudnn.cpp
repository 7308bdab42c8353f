// SPDX-License-Identifier: Apache-2.0
// cuDNN: handles and the descriptors of tensors. CTC and pooling are not modelled.
#include "src/dry_run/cudnn_types.h"
#include "src/dry_run/dry_run.h"

namespace headroom::dry_run {

Precision cudnn_precision(cudnnDataType_t type, bool tensor_cores) {
  switch (type) {
    case CUDNN_DATA_FLOAT:
      return product_precision(CUDA_R_32F, tensor_cores);
    case CUDNN_DATA_DOUBLE:
      return product_precision(CUDA_R_64F, tensor_cores);
    case CUDNN_DATA_BFLOAT16:
      return product_precision(CUDA_R_16BF, tensor_cores);
    default:
      return product_precision(CUDA_R_16F, tensor_cores);
  }
}

HEADROOM_ENTRY void cudnnGetLastErrorString(char* text, std::size_t size) {
  if (size > 0) *text = '\0';
}

HEADROOM_ENTRY cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  *handle = new cudnnContext;
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete handle;
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, cudaStream_t* stream) {
  *stream = handle->stream;
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* tensor) {
  *tensor = new cudnnTensorStruct;
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensor) {
  delete tensor;
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t tensor,
                                                        cudnnDataType_t type, int dimensions,
                                                        const int* sizes, const int*) {
  *tensor = {type, {sizes, sizes + dimensions}};
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnGetTensorNdDescriptor(cudnnTensorDescriptor_t tensor, int most,
                                                        cudnnDataType_t* type, int* dimensions,
                                                        int sizes[], int strides[]) {
  *type = tensor->type;
  *dimensions = static_cast<int>(tensor->sizes.size());
  int stride = 1;
  for (int i = *dimensions; i-- > 0;) {
    if (i < most) {
      sizes[i] = static_cast<int>(tensor->sizes[i]);
      strides[i] = stride;  // of tensors that the dry run made itself
    }
    stride *= static_cast<int>(tensor->sizes[i]);
  }
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* filter) {
  *filter = new cudnnFilterStruct;
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t filter) {
  delete filter;
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t filter,
                                                        cudnnDataType_t type, cudnnTensorFormat_t,
                                                        int dimensions, const int* sizes) {
  *filter = {type, {sizes, sizes + dimensions}};
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t
cudnnCreateActivationDescriptor(cudnnActivationDescriptor_t* activation) {
  *activation = new cudnnActivationStruct;
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t
cudnnDestroyActivationDescriptor(cudnnActivationDescriptor_t activation) {
  delete activation;
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnSetActivationDescriptor(cudnnActivationDescriptor_t,
                                                          cudnnActivationMode_t,
                                                          cudnnNanPropagation_t, double) {
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace headroom::dry_run
