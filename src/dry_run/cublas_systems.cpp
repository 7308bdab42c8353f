// SPDX-License-Identifier: Apache-2.0
// cuBLAS: systems of equations. It factors batches of small matrices, in place and without memory
// of its own.
#include <cublas_v2.h>

#include <algorithm>

#include "src/dry_run/cublas_context.h"
#include "src/dry_run/dry_run.h"

namespace headroom::dry_run {
namespace {

cublasStatus_t solve(cublasHandle_t handle, std::int64_t flops, cudaDataType type) {
  run_product(handle->stream, {flops, product_precision(type, /*tensor_cores=*/false)});
  return CUBLAS_STATUS_SUCCESS;
}

/// A triangular one of this many equations has half of a matrix.
std::int64_t triangular_flops(cublasSideMode_t side, int m, int n, int batch, cudaDataType type) {
  const int equations = side == CUBLAS_SIDE_LEFT ? m : n;
  return product_flops(m, n, equations, batch, type) / 2;
}

}  // namespace

// The four types of numbers, as in cublas.cpp.
#define HEADROOM_SYSTEMS(LETTER, NUMBER, TYPE)                                                    \
  HEADROOM_ENTRY cublasStatus_t cublas##LETTER##trsm_v2(                                          \
      cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t, cublasOperation_t,          \
      cublasDiagType_t, int m, int n, const NUMBER*, const NUMBER*, int, NUMBER*, int) {          \
    return solve(handle, triangular_flops(side, m, n, /*batch=*/1, TYPE), TYPE);                  \
  }                                                                                               \
  HEADROOM_ENTRY cublasStatus_t cublas##LETTER##trsmBatched(                                      \
      cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t, cublasOperation_t,          \
      cublasDiagType_t, int m, int n, const NUMBER*, const NUMBER* const*, int, NUMBER* const*,   \
      int, int batch) {                                                                           \
    return solve(handle, triangular_flops(side, m, n, batch, TYPE), TYPE);                        \
  }                                                                                               \
  HEADROOM_ENTRY cublasStatus_t cublas##LETTER##getrfBatched(                                     \
      cublasHandle_t handle, int n, NUMBER* const*, int, int*, int* info, int batch) {            \
    solve(handle, product_flops(n, n, n, batch, TYPE) / 3, TYPE);                                 \
    assume_solved(info, batch);                                                                   \
    return CUBLAS_STATUS_SUCCESS;                                                                 \
  }                                                                                               \
  HEADROOM_ENTRY cublasStatus_t cublas##LETTER##getrsBatched(                                     \
      cublasHandle_t handle, cublasOperation_t, int n, int sides, const NUMBER* const*, int,      \
      const int*, NUMBER* const*, int, int* info, int batch) {                                    \
    *info = 0; /* on the host */                                                                  \
    return solve(handle, product_flops(n, sides, n, batch, TYPE), TYPE);                          \
  }                                                                                               \
  HEADROOM_ENTRY cublasStatus_t cublas##LETTER##geqrfBatched(cublasHandle_t handle, int m, int n, \
                                                             NUMBER* const*, int, NUMBER* const*, \
                                                             int* info, int batch) {              \
    *info = 0;                                                                                    \
    return solve(handle, product_flops(m, n, std::min(m, n), batch, TYPE), TYPE);                 \
  }                                                                                               \
  HEADROOM_ENTRY cublasStatus_t cublas##LETTER##gelsBatched(                                      \
      cublasHandle_t handle, cublasOperation_t, int m, int n, int sides, NUMBER* const*, int,     \
      NUMBER* const*, int, int* info, int* infos, int batch) {                                    \
    *info = 0;                                                                                    \
    solve(handle, product_flops(m, n + sides, n, batch, TYPE), TYPE);                             \
    assume_solved(infos, batch);                                                                  \
    return CUBLAS_STATUS_SUCCESS;                                                                 \
  }

HEADROOM_SYSTEMS(S, float, CUDA_R_32F)
HEADROOM_SYSTEMS(D, double, CUDA_R_64F)
HEADROOM_SYSTEMS(C, cuComplex, CUDA_C_32F)
HEADROOM_SYSTEMS(Z, cuDoubleComplex, CUDA_C_64F)

}  // namespace headroom::dry_run
