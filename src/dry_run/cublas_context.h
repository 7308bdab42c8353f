// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublas_v2.h>

/// What a handle of cuBLAS points to.
struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
};
