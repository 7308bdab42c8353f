// SPDX-License-Identifier: Apache-2.0
// cuDNN: its version, which PyTorch asks for where it describes itself. So these are here even
// where cuDNN's headers, and with them the rest, are not.
#if __has_include(<cudnn.h>)
#include <cudnn.h>
#else
using cudnnStatus_t = int;  // 0 is success

// PyTorch takes 0 for too old, and uses no attention of cuDNN's.
#define CUDNN_VERSION 0
#define CUDNN_MAJOR 0
#define CUDNN_MINOR 0
#define CUDNN_PATCHLEVEL 0
#endif
#include <cuda_runtime_api.h>
#include <library_types.h>

#include <cstddef>

#include "src/dry_run/dry_run.h"

HEADROOM_ENTRY std::size_t cudnnGetVersion() { return CUDNN_VERSION; }
HEADROOM_ENTRY std::size_t cudnnGetCudartVersion() { return CUDART_VERSION; }

HEADROOM_ENTRY cudnnStatus_t cudnnGetProperty(libraryPropertyType property, int* value) {
  switch (property) {
    case MAJOR_VERSION:
      *value = CUDNN_MAJOR;
      break;
    case MINOR_VERSION:
      *value = CUDNN_MINOR;
      break;
    case PATCH_LEVEL:
      *value = CUDNN_PATCHLEVEL;
      break;
  }
  return {};
}
