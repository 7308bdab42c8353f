// SPDX-License-Identifier: Apache-2.0
// cuSOLVER: eigenvalues and singular values. Operations are those that Golub and Van Loan count
// (Matrix Computations) for values with all vectors, by the QR algorithm, of Jacobi's too.
#include "src/dry_run/cusolver.h"
#include "src/dry_run/dry_run.h"
#include "src/dry_run/solver_work.h"

struct gesvdjInfo {};
struct syevjInfo {};

namespace headroom::dry_run {
namespace {

std::int64_t cube_flops(std::int64_t n, std::int64_t batch, cudaDataType type) {
  return product_flops(n, n, n, batch, type) / 2;
}

std::int64_t hermitian_flops(std::int64_t n, std::int64_t batch, cudaDataType type) {
  return 9 * cube_flops(n, batch, type);
}

std::int64_t singular_flops(std::int64_t m, std::int64_t n, std::int64_t batch, cudaDataType type) {
  const std::int64_t longer = std::max(m, n);
  const std::int64_t shorter = std::min(m, n);
  return (product_flops(longer, longer, shorter, batch, type) * 4 +
          product_flops(longer, shorter, shorter, batch, type) * 8) /
             2 +
         9 * cube_flops(shorter, batch, type);
}

}  // namespace

HEADROOM_ENTRY cusolverStatus_t cusolverDnCreateGesvdjInfo(gesvdjInfo_t* info) {
  *info = new gesvdjInfo;
  return CUSOLVER_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusolverStatus_t cusolverDnDestroyGesvdjInfo(gesvdjInfo_t info) {
  delete info;
  return CUSOLVER_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusolverStatus_t cusolverDnCreateSyevjInfo(syevjInfo_t* info) {
  *info = new syevjInfo;
  return CUSOLVER_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusolverStatus_t cusolverDnDestroySyevjInfo(syevjInfo_t info) {
  delete info;
  return CUSOLVER_STATUS_SUCCESS;
}

// How exact the values are changes nothing here.

HEADROOM_ENTRY cusolverStatus_t cusolverDnXgesvdjSetTolerance(gesvdjInfo_t, double) {
  return CUSOLVER_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusolverStatus_t cusolverDnXgesvdjSetMaxSweeps(gesvdjInfo_t, int) {
  return CUSOLVER_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusolverStatus_t cusolverDnXgesvdjSetSortEig(gesvdjInfo_t, int) {
  return CUSOLVER_STATUS_SUCCESS;
}

// The four types of numbers, as in cublas.cpp. REAL: what its eigenvalues are; SYMMETRIC: how
// matrices are called that have real ones: sy, he.
#define HEADROOM_SPECTRA(LETTER, NUMBER, REAL, TYPE, SYMMETRIC)                                    \
  HEADROOM_ENTRY cusolverStatus_t cusolverDn##LETTER##gesvd_bufferSize(cusolverDnHandle_t, int m,  \
                                                                       int n, int* elements) {     \
    return give_size(singular_numbers(m, n), elements);                                            \
  }                                                                                                \
  HEADROOM_ENTRY cusolverStatus_t cusolverDn##LETTER##gesvd(                                       \
      cusolverDnHandle_t handle, signed char, signed char, int m, int n, NUMBER*, int, REAL*,      \
      NUMBER*, int, NUMBER*, int, NUMBER*, int, REAL*, int* info) {                                \
    return solve(handle, singular_flops(m, n, /*batch=*/1, TYPE), TYPE, info);                     \
  }                                                                                                \
  HEADROOM_ENTRY cusolverStatus_t cusolverDn##LETTER##gesvdj_bufferSize(                           \
      cusolverDnHandle_t, cusolverEigMode_t, int thin, int m, int n, const NUMBER*, int,           \
      const REAL*, const NUMBER*, int, const NUMBER*, int, int* elements, gesvdjInfo_t) {          \
    return give_size(singular_jacobi_numbers(m, n, thin != 0), elements);                          \
  }                                                                                                \
  HEADROOM_ENTRY cusolverStatus_t cusolverDn##LETTER##gesvdj(                                      \
      cusolverDnHandle_t handle, cusolverEigMode_t, int, int m, int n, NUMBER*, int, REAL*,        \
      NUMBER*, int, NUMBER*, int, NUMBER*, int, int* info, gesvdjInfo_t) {                         \
    return solve(handle, singular_flops(m, n, /*batch=*/1, TYPE), TYPE, info);                     \
  }                                                                                                \
  HEADROOM_ENTRY cusolverStatus_t cusolverDn##LETTER##gesvdjBatched_bufferSize(                    \
      cusolverDnHandle_t, cusolverEigMode_t, int, int, const NUMBER*, int, const REAL*,            \
      const NUMBER*, int, const NUMBER*, int, int* elements, gesvdjInfo_t, int) {                  \
    return give_size(kSingularJacobiBatchNumbers, elements);                                       \
  }                                                                                                \
  HEADROOM_ENTRY cusolverStatus_t cusolverDn##LETTER##gesvdjBatched(                               \
      cusolverDnHandle_t handle, cusolverEigMode_t, int m, int n, NUMBER*, int, REAL*, NUMBER*,    \
      int, NUMBER*, int, NUMBER*, int, int* info, gesvdjInfo_t, int batch) {                       \
    return solve(handle, singular_flops(m, n, batch, TYPE), TYPE, info, batch);                    \
  }                                                                                                \
  HEADROOM_ENTRY cusolverStatus_t cusolverDn##LETTER##gesvdaStridedBatched_bufferSize(             \
      cusolverDnHandle_t, cusolverEigMode_t, int, int m, int n, const NUMBER*, int, long long,     \
      const REAL*, long long, const NUMBER*, int, long long, const NUMBER*, int, long long,        \
      int* elements, int batch) {                                                                  \
    return give_size(                                                                              \
        singular_approximate_bytes(m, n, batch, is_complex(TYPE)) / element_bytes(TYPE),           \
        elements);                                                                                 \
  }                                                                                                \
  HEADROOM_ENTRY cusolverStatus_t cusolverDn##LETTER##gesvdaStridedBatched(                        \
      cusolverDnHandle_t handle, cusolverEigMode_t, int, int m, int n, const NUMBER*, int,         \
      long long, REAL*, long long, NUMBER*, int, long long, NUMBER*, int, long long, NUMBER*, int, \
      int* info, double* residuals, int batch) {                                                   \
    if (residuals != nullptr) std::fill_n(residuals, batch, 0.0); /* on the host */                \
    return solve(handle, singular_flops(m, n, batch, TYPE), TYPE, info, batch);                    \
  }                                                                                                \
  HEADROOM_ENTRY cusolverStatus_t cusolverDn##LETTER##SYMMETRIC##evd_bufferSize(                   \
      cusolverDnHandle_t, cusolverEigMode_t, cublasFillMode_t, int n, const NUMBER*, int,          \
      const REAL*, int* elements) {                                                                \
    return give_size(symmetric_numbers(n), elements);                                              \
  }                                                                                                \
  HEADROOM_ENTRY cusolverStatus_t cusolverDn##LETTER##SYMMETRIC##evd(                              \
      cusolverDnHandle_t handle, cusolverEigMode_t, cublasFillMode_t, int n, NUMBER*, int, REAL*,  \
      NUMBER*, int, int* info) {                                                                   \
    return solve(handle, hermitian_flops(n, /*batch=*/1, TYPE), TYPE, info);                       \
  }                                                                                                \
  HEADROOM_ENTRY cusolverStatus_t cusolverDn##LETTER##SYMMETRIC##evj_bufferSize(                   \
      cusolverDnHandle_t, cusolverEigMode_t, cublasFillMode_t, int n, const NUMBER*, int,          \
      const REAL*, int* elements, syevjInfo_t) {                                                   \
    return give_size(jacobi_numbers(n), elements);                                                 \
  }                                                                                                \
  HEADROOM_ENTRY cusolverStatus_t cusolverDn##LETTER##SYMMETRIC##evj(                              \
      cusolverDnHandle_t handle, cusolverEigMode_t, cublasFillMode_t, int n, NUMBER*, int, REAL*,  \
      NUMBER*, int, int* info, syevjInfo_t) {                                                      \
    return solve(handle, hermitian_flops(n, /*batch=*/1, TYPE), TYPE, info);                       \
  }                                                                                                \
  HEADROOM_ENTRY cusolverStatus_t cusolverDn##LETTER##SYMMETRIC##evjBatched_bufferSize(            \
      cusolverDnHandle_t, cusolverEigMode_t, cublasFillMode_t, int n, const NUMBER*, int,          \
      const REAL*, int* elements, syevjInfo_t, int batch) {                                        \
    return give_size(jacobi_batch_numbers(n, batch), elements);                                    \
  }                                                                                                \
  HEADROOM_ENTRY cusolverStatus_t cusolverDn##LETTER##SYMMETRIC##evjBatched(                       \
      cusolverDnHandle_t handle, cusolverEigMode_t, cublasFillMode_t, int n, NUMBER*, int, REAL*,  \
      NUMBER*, int, int* info, syevjInfo_t, int batch) {                                           \
    return solve(handle, hermitian_flops(n, batch, TYPE), TYPE, info, batch);                      \
  }

HEADROOM_SPECTRA(S, float, float, CUDA_R_32F, sy)
HEADROOM_SPECTRA(D, double, double, CUDA_R_64F, sy)
HEADROOM_SPECTRA(C, cuComplex, float, CUDA_C_32F, he)
HEADROOM_SPECTRA(Z, cuDoubleComplex, double, CUDA_C_64F, he)

HEADROOM_ENTRY cusolverStatus_t cusolverDnXsyevd_bufferSize(
    cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t, cublasFillMode_t, std::int64_t n,
    cudaDataType type, const void*, std::int64_t, cudaDataType, const void*, cudaDataType,
    std::size_t* on_device, std::size_t* on_host) {
  return give_bytes(symmetric_bytes(n, element_bytes(type), /*batch=*/1), on_device, on_host);
}

HEADROOM_ENTRY cusolverStatus_t cusolverDnXsyevd(cusolverDnHandle_t handle, cusolverDnParams_t,
                                                 cusolverEigMode_t, cublasFillMode_t,
                                                 std::int64_t n, cudaDataType type, void*,
                                                 std::int64_t, cudaDataType, void*, cudaDataType,
                                                 void*, std::size_t, void*, std::size_t,
                                                 int* info) {
  return solve(handle, hermitian_flops(n, /*batch=*/1, type), type, info);
}

HEADROOM_ENTRY cusolverStatus_t cusolverDnXsyevBatched_bufferSize(
    cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t, cublasFillMode_t, std::int64_t n,
    cudaDataType type, const void*, std::int64_t, cudaDataType, const void*, cudaDataType,
    std::size_t* on_device, std::size_t* on_host, std::int64_t batch) {
  return give_bytes(symmetric_bytes(n, element_bytes(type), batch), on_device, on_host);
}

HEADROOM_ENTRY cusolverStatus_t cusolverDnXsyevBatched(
    cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t, cublasFillMode_t,
    std::int64_t n, cudaDataType type, void*, std::int64_t, cudaDataType, void*, cudaDataType,
    void*, std::size_t, void*, std::size_t, int* info, std::int64_t batch) {
  return solve(handle, hermitian_flops(n, batch, type), type, info, batch);
}

HEADROOM_ENTRY cusolverStatus_t cusolverDnXgeev_bufferSize(
    cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t, cusolverEigMode_t, std::int64_t n,
    cudaDataType type, const void*, std::int64_t, cudaDataType, const void*, cudaDataType,
    const void*, std::int64_t, cudaDataType, const void*, std::int64_t, cudaDataType,
    std::size_t* on_device, std::size_t* on_host) {
  return give_bytes(eigenvalue_numbers(n) * element_bytes(type), on_device, on_host);
}

HEADROOM_ENTRY cusolverStatus_t cusolverDnXgeev(cusolverDnHandle_t handle, cusolverDnParams_t,
                                                cusolverEigMode_t, cusolverEigMode_t,
                                                std::int64_t n, cudaDataType type, void*,
                                                std::int64_t, cudaDataType, void*, cudaDataType,
                                                void*, std::int64_t, cudaDataType, void*,
                                                std::int64_t, cudaDataType, void*, std::size_t,
                                                void*, std::size_t, int* info) {
  return solve(handle, 25 * cube_flops(n, /*batch=*/1, type), type, info);
}

}  // namespace headroom::dry_run
