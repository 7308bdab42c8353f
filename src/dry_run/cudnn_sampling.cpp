// SPDX-License-Identifier: Apache-2.0
// cuDNN's spatial transformer: grids, and images sampled by them. It takes no memory of its own.
#include "src/dry_run/cudnn_types.h"
#include "src/dry_run/dry_run.h"

struct cudnnSpatialTransformerStruct {
  std::vector<std::int64_t> sizes;  // of the image that comes out
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
};

namespace headroom::dry_run {
namespace {

/// Two numbers for each place of the image that comes out.
cudnnStatus_t make_grid(cudnnHandle_t handle, cudnnSpatialTransformerDescriptor_t transformer) {
  const auto& sizes = transformer->sizes;  // (batch, channels, height, width)
  if (sizes.size() != 4) return CUDNN_STATUS_BAD_PARAM;
  const cudnnTensorStruct grid{transformer->type, {sizes[0], sizes[2], sizes[3], 2}};
  run_work(handle->stream, memory_work(dry_run().gpu, {bytes_of(grid)}));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t sample(cudnnHandle_t handle, std::initializer_list<cudnnTensorDescriptor_t> images) {
  std::int64_t bytes = 0;
  for (const cudnnTensorDescriptor_t image : images) bytes += bytes_of(*image);
  run_work(handle->stream, memory_work(dry_run().gpu, {bytes}));
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

HEADROOM_ENTRY cudnnStatus_t
cudnnCreateSpatialTransformerDescriptor(cudnnSpatialTransformerDescriptor_t* transformer) {
  *transformer = new cudnnSpatialTransformerStruct;
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t
cudnnDestroySpatialTransformerDescriptor(cudnnSpatialTransformerDescriptor_t transformer) {
  delete transformer;
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnSetSpatialTransformerNdDescriptor(
    cudnnSpatialTransformerDescriptor_t transformer, cudnnSamplerType_t, cudnnDataType_t type,
    const int dimensions, const int sizes[]) {
  *transformer = {{sizes, sizes + dimensions}, type};
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnSpatialTfGridGeneratorForward(
    cudnnHandle_t handle, const cudnnSpatialTransformerDescriptor_t transformer, const void*,
    void*) {
  return make_grid(handle, transformer);
}

HEADROOM_ENTRY cudnnStatus_t cudnnSpatialTfGridGeneratorBackward(
    cudnnHandle_t handle, const cudnnSpatialTransformerDescriptor_t transformer, const void*,
    void*) {
  return make_grid(handle, transformer);
}

HEADROOM_ENTRY cudnnStatus_t cudnnSpatialTfSamplerForward(cudnnHandle_t handle,
                                                          cudnnSpatialTransformerDescriptor_t,
                                                          const void*,
                                                          const cudnnTensorDescriptor_t x,
                                                          const void*, const void*, const void*,
                                                          cudnnTensorDescriptor_t y, void*) {
  return sample(handle, {x, y});
}

HEADROOM_ENTRY cudnnStatus_t cudnnSpatialTfSamplerBackward(
    cudnnHandle_t handle, cudnnSpatialTransformerDescriptor_t, const void*,
    const cudnnTensorDescriptor_t x, const void*, const void*, const cudnnTensorDescriptor_t dx,
    void*, const void*, const cudnnTensorDescriptor_t dy, const void*, const void*, const void*,
    void*) {
  return sample(handle, {x, dx, dy});
}

}  // namespace headroom::dry_run
