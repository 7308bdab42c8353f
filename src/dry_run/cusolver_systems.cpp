// SPDX-License-Identifier: Apache-2.0
// cuSOLVER: its handles, and systems of equations: by LU, Cholesky, QR and LDL.
#include "src/dry_run/cusolver.h"
#include "src/dry_run/dry_run.h"
#include "src/dry_run/solver_work.h"

struct cusolverDnParams {};

namespace headroom::dry_run {
namespace {

std::int64_t lu_flops(std::int64_t m, std::int64_t n, cudaDataType type) {
  return product_flops(m, n, std::min(m, n), /*batch=*/1, type) / 3;
}

/// Cholesky's, and LDL's.
std::int64_t symmetric_flops(std::int64_t n, std::int64_t batch, cudaDataType type) {
  return product_flops(n, n, n, batch, type) / 6;
}

}  // namespace

cusolverStatus_t give_size(std::int64_t numbers, int* answer) {
  *answer = static_cast<int>(numbers);
  note_estimated("cuSOLVER");
  return CUSOLVER_STATUS_SUCCESS;
}

/// What it works in on the host is not counted.
cusolverStatus_t give_bytes(std::int64_t bytes, std::size_t* on_device, std::size_t* on_host) {
  *on_device = static_cast<std::size_t>(bytes);
  *on_host = 0;
  note_estimated("cuSOLVER");
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t solve(cusolverDnHandle_t handle, std::int64_t flops, cudaDataType type, int* info,
                       std::int64_t batch) {
  run_product(handle->stream, {flops, product_precision(type, /*tensor_cores=*/false)});
  assume_solved(info, batch);
  return CUSOLVER_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  *handle = new cusolverDnContext;
  return CUSOLVER_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
  delete handle;
  return CUSOLVER_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle,
                                                    cudaStream_t stream) {
  handle->stream = stream;
  return CUSOLVER_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t* parameters) {
  *parameters = new cusolverDnParams;
  return CUSOLVER_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t parameters) {
  delete parameters;
  return CUSOLVER_STATUS_SUCCESS;
}

// The four types of numbers have a function each, alike but for the type: LETTER, NUMBER and TYPE
// as in cublas.cpp, ORTHOGONAL as matrices of that type are called: or, un.
#define HEADROOM_SYSTEMS(LETTER, NUMBER, TYPE, ORTHOGONAL)                                         \
  HEADROOM_ENTRY cusolverStatus_t cusolverDn##LETTER##getrf_bufferSize(                            \
      cusolverDnHandle_t, int m, int n, NUMBER*, int, int* elements) {                             \
    return give_size(lu_bytes(std::max(m, n)) / element_bytes(TYPE), elements);                    \
  }                                                                                                \
  HEADROOM_ENTRY cusolverStatus_t cusolverDn##LETTER##getrf(                                       \
      cusolverDnHandle_t handle, int m, int n, NUMBER*, int, NUMBER*, int*, int* info) {           \
    return solve(handle, lu_flops(m, n, TYPE), TYPE, info);                                        \
  }                                                                                                \
  HEADROOM_ENTRY cusolverStatus_t cusolverDn##LETTER##getrs(                                       \
      cusolverDnHandle_t handle, cublasOperation_t, int n, int sides, const NUMBER*, int,          \
      const int*, NUMBER*, int, int* info) {                                                       \
    return solve(handle, product_flops(n, sides, n, /*batch=*/1, TYPE), TYPE, info);               \
  }                                                                                                \
  HEADROOM_ENTRY cusolverStatus_t cusolverDn##LETTER##potrf_bufferSize(                            \
      cusolverDnHandle_t, cublasFillMode_t, int n, NUMBER*, int, int* elements) {                  \
    return give_size(cholesky_bytes(n) / element_bytes(TYPE), elements);                           \
  }                                                                                                \
  HEADROOM_ENTRY cusolverStatus_t cusolverDn##LETTER##potrf(                                       \
      cusolverDnHandle_t handle, cublasFillMode_t, int n, NUMBER*, int, NUMBER*, int, int* info) { \
    return solve(handle, symmetric_flops(n, /*batch=*/1, TYPE), TYPE, info);                       \
  }                                                                                                \
  HEADROOM_ENTRY cusolverStatus_t cusolverDn##LETTER##potrs(                                       \
      cusolverDnHandle_t handle, cublasFillMode_t, int n, int sides, const NUMBER*, int, NUMBER*,  \
      int, int* info) {                                                                            \
    return solve(handle, product_flops(n, sides, n, /*batch=*/1, TYPE), TYPE, info);               \
  }                                                                                                \
  HEADROOM_ENTRY cusolverStatus_t cusolverDn##LETTER##potrfBatched(                                \
      cusolverDnHandle_t handle, cublasFillMode_t, int n, NUMBER**, int, int* info, int batch) {   \
    return solve(handle, symmetric_flops(n, batch, TYPE), TYPE, info, batch);                      \
  }                                                                                                \
  HEADROOM_ENTRY cusolverStatus_t cusolverDn##LETTER##potrsBatched(                                \
      cusolverDnHandle_t handle, cublasFillMode_t, int n, int sides, NUMBER**, int, NUMBER**, int, \
      int* info, int batch) {                                                                      \
    return solve(handle, product_flops(n, sides, n, batch, TYPE), TYPE, info);                     \
  }                                                                                                \
  HEADROOM_ENTRY cusolverStatus_t cusolverDn##LETTER##geqrf_bufferSize(                            \
      cusolverDnHandle_t, int, int n, NUMBER*, int, int* elements) {                               \
    return give_size(qr_numbers(n), elements);                                                     \
  }                                                                                                \
  HEADROOM_ENTRY cusolverStatus_t cusolverDn##LETTER##geqrf(                                       \
      cusolverDnHandle_t handle, int m, int n, NUMBER*, int, NUMBER*, NUMBER*, int, int* info) {   \
    return solve(handle, product_flops(m, n, std::min(m, n), /*batch=*/1, TYPE), TYPE, info);      \
  }                                                                                                \
  HEADROOM_ENTRY cusolverStatus_t cusolverDn##LETTER##ORTHOGONAL##gqr_bufferSize(                  \
      cusolverDnHandle_t, int m, int n, int, const NUMBER*, int, const NUMBER*, int* elements) {   \
    return give_size(q_numbers(m, n), elements);                                                   \
  }                                                                                                \
  HEADROOM_ENTRY cusolverStatus_t cusolverDn##LETTER##ORTHOGONAL##gqr(                             \
      cusolverDnHandle_t handle, int m, int n, int k, NUMBER*, int, const NUMBER*, NUMBER*, int,   \
      int* info) {                                                                                 \
    return solve(handle, 2 * product_flops(m, n, k, /*batch=*/1, TYPE), TYPE, info);               \
  }                                                                                                \
  HEADROOM_ENTRY cusolverStatus_t cusolverDn##LETTER##ORTHOGONAL##mqr_bufferSize(                  \
      cusolverDnHandle_t, cublasSideMode_t side, cublasOperation_t, int m, int n, int k,           \
      const NUMBER*, int, const NUMBER*, const NUMBER*, int, int* elements) {                      \
    return give_size(                                                                              \
        side == CUBLAS_SIDE_LEFT ? q_product_numbers(m, n, k) : q_product_numbers(n, m, k),        \
        elements);                                                                                 \
  }                                                                                                \
  HEADROOM_ENTRY cusolverStatus_t cusolverDn##LETTER##ORTHOGONAL##mqr(                             \
      cusolverDnHandle_t handle, cublasSideMode_t, cublasOperation_t, int m, int n, int k,         \
      const NUMBER*, int, const NUMBER*, NUMBER*, int, NUMBER*, int, int* info) {                  \
    return solve(handle, 2 * product_flops(m, n, k, /*batch=*/1, TYPE), TYPE, info);               \
  }                                                                                                \
  HEADROOM_ENTRY cusolverStatus_t cusolverDn##LETTER##sytrf_bufferSize(                            \
      cusolverDnHandle_t, int n, NUMBER*, int, int* elements) {                                    \
    return give_size(ldl_numbers(n, element_bytes(TYPE)), elements);                               \
  }                                                                                                \
  HEADROOM_ENTRY cusolverStatus_t cusolverDn##LETTER##sytrf(cusolverDnHandle_t handle,             \
                                                            cublasFillMode_t, int n, NUMBER*, int, \
                                                            int*, NUMBER*, int, int* info) {       \
    return solve(handle, symmetric_flops(n, /*batch=*/1, TYPE), TYPE, info);                       \
  }

HEADROOM_SYSTEMS(S, float, CUDA_R_32F, or)
HEADROOM_SYSTEMS(D, double, CUDA_R_64F, or)
HEADROOM_SYSTEMS(C, cuComplex, CUDA_C_32F, un)
HEADROOM_SYSTEMS(Z, cuDoubleComplex, CUDA_C_64F, un)

HEADROOM_ENTRY cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t,
                                                            cublasFillMode_t, std::int64_t n,
                                                            cudaDataType, const void*, std::int64_t,
                                                            cudaDataType, std::size_t* on_device,
                                                            std::size_t* on_host) {
  return give_bytes(cholesky_bytes(n), on_device, on_host);
}

HEADROOM_ENTRY cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t,
                                                 cublasFillMode_t, std::int64_t n,
                                                 cudaDataType type, void*, std::int64_t,
                                                 cudaDataType, void*, std::size_t, void*,
                                                 std::size_t, int* info) {
  return solve(handle, symmetric_flops(n, /*batch=*/1, type), type, info);
}

HEADROOM_ENTRY cusolverStatus_t cusolverDnXpotrs(cusolverDnHandle_t handle, cusolverDnParams_t,
                                                 cublasFillMode_t, std::int64_t n,
                                                 std::int64_t sides, cudaDataType type, const void*,
                                                 std::int64_t, cudaDataType, void*, std::int64_t,
                                                 int* info) {
  return solve(handle, product_flops(n, sides, n, /*batch=*/1, type), type, info);
}

HEADROOM_ENTRY cusolverStatus_t cusolverDnXgeqrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t,
                                                            std::int64_t, std::int64_t n,
                                                            cudaDataType type, const void*,
                                                            std::int64_t, cudaDataType, const void*,
                                                            cudaDataType, std::size_t* on_device,
                                                            std::size_t* on_host) {
  return give_bytes(qr_bytes(n, element_bytes(type)), on_device, on_host);
}

HEADROOM_ENTRY cusolverStatus_t cusolverDnXgeqrf(cusolverDnHandle_t handle, cusolverDnParams_t,
                                                 std::int64_t m, std::int64_t n, cudaDataType type,
                                                 void*, std::int64_t, cudaDataType, void*,
                                                 cudaDataType, void*, std::size_t, void*,
                                                 std::size_t, int* info) {
  return solve(handle, product_flops(m, n, std::min(m, n), /*batch=*/1, type), type, info);
}

HEADROOM_ENTRY cusolverStatus_t cusolverDnXsytrs_bufferSize(
    cusolverDnHandle_t, cublasFillMode_t, std::int64_t, std::int64_t, cudaDataType, const void*,
    std::int64_t, const std::int64_t*, cudaDataType, void*, std::int64_t, std::size_t* on_device,
    std::size_t* on_host) {
  return give_bytes(0, on_device, on_host);
}

HEADROOM_ENTRY cusolverStatus_t cusolverDnXsytrs(cusolverDnHandle_t handle, cublasFillMode_t,
                                                 std::int64_t n, std::int64_t sides,
                                                 cudaDataType type, const void*, std::int64_t,
                                                 const std::int64_t*, cudaDataType, void*,
                                                 std::int64_t, void*, std::size_t, void*,
                                                 std::size_t, int* info) {
  return solve(handle, product_flops(n, sides, n, /*batch=*/1, type), type, info);
}

}  // namespace headroom::dry_run
