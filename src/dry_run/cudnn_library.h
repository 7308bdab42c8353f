// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cudnn.h>

#include <cstdint>
#include <string>
#include <vector>

namespace headroom::dry_run {

/// The program's own cuDNN, beside the one that the dry run plays. Since cuDNN 9.8 it ranks its
/// engines for a GPU that is not there, of which it is told the properties
/// (docs.nvidia.com/deeplearning/cudnn, "Deviceless Ahead-of-time Compilation").
struct CudnnLibrary {
  cudnnStatus_t (*create)(cudnnBackendDescriptorType_t, cudnnBackendDescriptor_t*) = nullptr;
  cudnnStatus_t (*destroy)(cudnnBackendDescriptor_t) = nullptr;
  cudnnStatus_t (*finalize)(cudnnBackendDescriptor_t) = nullptr;
  cudnnStatus_t (*set)(cudnnBackendDescriptor_t, cudnnBackendAttributeName_t,
                       cudnnBackendAttributeType_t, std::int64_t, const void*) = nullptr;
  cudnnStatus_t (*get)(cudnnBackendDescriptor_t, cudnnBackendAttributeName_t,
                       cudnnBackendAttributeType_t, std::int64_t, std::int64_t*, void*) = nullptr;
  /// A finished CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR of the GPU that is played.
  cudnnBackendDescriptor_t device = nullptr;
};

/// Loads it at the first call. Null: the program has none, or it is older, or wants to know
/// properties of the GPU that are not known here.
const CudnnLibrary* cudnn_library();

/// A GPU as cuDNN writes one down (CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION). cuDNN documents no
/// names; it says in its errors which one is missing.
std::string device_description();

}  // namespace headroom::dry_run
