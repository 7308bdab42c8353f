// SPDX-License-Identifier: Apache-2.0
// cuBLAS: products of matrices and vectors, counted by their sizes; then cuBLASLt, whose products
// are described first, and done then. Workspaces are PyTorch's own allocations, which it hands
// over.
#include <cublasLt.h>
#include <cublas_v2.h>

#include <cstring>

#include "src/dry_run/cublas_context.h"
#include "src/dry_run/dry_run.h"

namespace headroom::dry_run {
namespace {

struct Sizes {
  std::int64_t m, n, k, batch;
};

cublasStatus_t multiply(cublasHandle_t handle, const Sizes& of, cudaDataType type,
                        std::int64_t row_bytes, bool tensor_cores = false) {
  const bool allowed = tensor_cores || (handle->math & CUBLAS_TF32_TENSOR_OP_MATH) != 0;
  run_product(handle->stream, {.flops = product_flops(of.m, of.n, of.k, of.batch, type),
                               .precision = product_precision(type, allowed),
                               .bytes = product_bytes(of.m, of.n, of.k, of.batch, type),
                               .written_bytes = of.m * of.n * of.batch * element_bytes(type),
                               .row_bytes = row_bytes});
  return CUBLAS_STATUS_SUCCESS;
}

/// Of vectors, which are read once: memory limits them, whatever their rows are.
cublasStatus_t multiply_vector(cublasHandle_t handle, std::int64_t m, std::int64_t k,
                               cudaDataType type) {
  return multiply(handle, {m, 1, k, 1}, type, element_bytes(CUDA_C_64F));
}

/// Where a product is written: columns of so many numbers, from one to the next of which it is
/// `leading` numbers, and so many matrices that are `apart` by numbers.
struct Written {
  void* to;
  cudaDataType type;
  std::int64_t rows, columns, leading;
  std::int64_t batch = 1, apart = 0;
};

/// Of what stood there, as a bias that a product is added to, nothing is known any more. What lies
/// between columns is another's.
void forget(const Written& of) {
  const std::int64_t bytes = element_bytes(of.type);
  KnownBytes& known = dry_run().known;
  for (std::int64_t i = 0; i < of.batch; ++i) {
    const char* const begin = static_cast<const char*>(of.to) + i * of.apart * bytes;
    const std::int64_t reach = ((of.columns - 1) * of.leading + of.rows) * bytes;
    if (of.leading == of.rows || of.columns == 1) {
      known.forget(begin, static_cast<std::size_t>(reach));
    } else if (known.has_any(begin, static_cast<std::size_t>(reach))) {
      for (std::int64_t column = 0; column < of.columns; ++column) {
        known.forget(begin + column * of.leading * bytes,
                     static_cast<std::size_t>(of.rows * bytes));
      }
    }
  }
}

// What the handles point to.
struct Description {
  cublasComputeType_t compute;
  cublasOperation_t transpose_a;
};

struct Layout {
  cudaDataType type;
  std::uint64_t rows;
  std::uint64_t columns;
  std::int64_t leading;  // numbers from a column to the next
  std::int32_t batch;
  std::int64_t apart;  // numbers from a matrix to the next
};

Description* description_of(cublasLtMatmulDesc_t handle) {
  return reinterpret_cast<Description*>(handle);
}
Layout* layout_of(cublasLtMatrixLayout_t handle) { return reinterpret_cast<Layout*>(handle); }

}  // namespace

HEADROOM_ENTRY cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}

HEADROOM_ENTRY cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

HEADROOM_ENTRY cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}

HEADROOM_ENTRY cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t, void*, std::size_t) {
  return CUBLAS_STATUS_SUCCESS;
}

HEADROOM_ENTRY cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  handle->math = mode;
  return CUBLAS_STATUS_SUCCESS;
}

HEADROOM_ENTRY cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  *mode = handle->math;
  return CUBLAS_STATUS_SUCCESS;
}

HEADROOM_ENTRY cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle,
                                                      cublasPointerMode_t mode) {
  handle->pointer_mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}

HEADROOM_ENTRY cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle,
                                                      cublasPointerMode_t* mode) {
  *mode = handle->pointer_mode;
  return CUBLAS_STATUS_SUCCESS;
}

// The four types of numbers have a function each, alike but for the type: LETTER as in cublasSgemm,
// NUMBER as in its header, TYPE as cuBLAS names it elsewhere.
#define HEADROOM_PRODUCTS(LETTER, NUMBER, TYPE)                                                  \
  HEADROOM_ENTRY cublasStatus_t cublas##LETTER##gemm_v2(                                         \
      cublasHandle_t handle, cublasOperation_t, cublasOperation_t, int m, int n, int k,          \
      const NUMBER*, const NUMBER*, int a, const NUMBER*, int b, const NUMBER*, NUMBER* to,      \
      int c) {                                                                                   \
    multiply(handle, {m, n, k, 1}, TYPE, row_bytes({a, b, c}, TYPE));                            \
    return forget({to, TYPE, m, n, c}), CUBLAS_STATUS_SUCCESS;                                   \
  }                                                                                              \
  HEADROOM_ENTRY cublasStatus_t cublas##LETTER##gemmStridedBatched(                              \
      cublasHandle_t handle, cublasOperation_t, cublasOperation_t, int m, int n, int k,          \
      const NUMBER*, const NUMBER*, int a, long long, const NUMBER*, int b, long long,           \
      const NUMBER*, NUMBER* to, int c, long long apart, int batch) {                            \
    multiply(handle, {m, n, k, batch}, TYPE, row_bytes({a, b, c}, TYPE));                        \
    return forget({to, TYPE, m, n, c, batch, apart}), CUBLAS_STATUS_SUCCESS;                     \
  }                                                                                              \
  HEADROOM_ENTRY cublasStatus_t cublas##LETTER##gemmBatched(                                     \
      cublasHandle_t handle, cublasOperation_t, cublasOperation_t, int m, int n, int k,          \
      const NUMBER*, const NUMBER* const*, int a, const NUMBER* const*, int b, const NUMBER*,    \
      NUMBER* const*, int c, int batch) {                                                        \
    return multiply(handle, {m, n, k, batch}, TYPE, row_bytes({a, b, c}, TYPE));                 \
  }                                                                                              \
  HEADROOM_ENTRY cublasStatus_t cublas##LETTER##gemv_v2(                                         \
      cublasHandle_t handle, cublasOperation_t operation, int m, int n, const NUMBER*,           \
      const NUMBER*, int, const NUMBER*, int, const NUMBER*, NUMBER* to, int step) {             \
    multiply_vector(handle, m, n, TYPE);                                                         \
    return forget({to, TYPE, 1, operation == CUBLAS_OP_N ? m : n, step}), CUBLAS_STATUS_SUCCESS; \
  }

HEADROOM_PRODUCTS(S, float, CUDA_R_32F)
HEADROOM_PRODUCTS(D, double, CUDA_R_64F)
HEADROOM_PRODUCTS(C, cuComplex, CUDA_C_32F)
HEADROOM_PRODUCTS(Z, cuDoubleComplex, CUDA_C_64F)

HEADROOM_ENTRY cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t,
                                            cublasOperation_t, int m, int n, int k, const float*,
                                            const void*, cudaDataType type, int a, const void*,
                                            cudaDataType, int b, const float*, void* to,
                                            cudaDataType written, int c) {
  multiply(handle, {m, n, k, 1}, type, row_bytes({a, b, c}, type));
  return forget({to, written, m, n, c}), CUBLAS_STATUS_SUCCESS;
}

HEADROOM_ENTRY cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t,
                                           cublasOperation_t, int m, int n, int k, const void*,
                                           const void*, cudaDataType type, int a, const void*,
                                           cudaDataType, int b, const void*, void* to,
                                           cudaDataType written, int c, cublasComputeType_t compute,
                                           cublasGemmAlgo_t) {
  multiply(handle, {m, n, k, 1}, type, row_bytes({a, b, c}, type), rounds_to_tf32(compute));
  return forget({to, written, m, n, c}), CUBLAS_STATUS_SUCCESS;
}

HEADROOM_ENTRY cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t, cublasOperation_t, int m, int n, int k, const void*,
    const void*, cudaDataType type, int a, long long, const void*, cudaDataType, int b, long long,
    const void*, void* to, cudaDataType written, int c, long long apart, int batch,
    cublasComputeType_t compute, cublasGemmAlgo_t) {
  multiply(handle, {m, n, k, batch}, type, row_bytes({a, b, c}, type), rounds_to_tf32(compute));
  return forget({to, written, m, n, c, batch, apart}), CUBLAS_STATUS_SUCCESS;
}

// Of complex numbers, with the first vector conjugated (c) or not (u).
#define HEADROOM_DOT(NAME, NUMBER, TYPE)                                                       \
  HEADROOM_ENTRY cublasStatus_t cublas##NAME##_v2(cublasHandle_t handle, int n, const NUMBER*, \
                                                  int, const NUMBER*, int, NUMBER* result) {   \
    if (handle->pointer_mode == CUBLAS_POINTER_MODE_HOST) *result = {};                        \
    return multiply_vector(handle, 1, n, TYPE);                                                \
  }

HEADROOM_DOT(Sdot, float, CUDA_R_32F)
HEADROOM_DOT(Ddot, double, CUDA_R_64F)
HEADROOM_DOT(Cdotu, cuComplex, CUDA_C_32F)
HEADROOM_DOT(Cdotc, cuComplex, CUDA_C_32F)
HEADROOM_DOT(Zdotu, cuDoubleComplex, CUDA_C_64F)
HEADROOM_DOT(Zdotc, cuDoubleComplex, CUDA_C_64F)

/// float16 and bfloat16.
HEADROOM_ENTRY cublasStatus_t cublasDotEx(cublasHandle_t handle, int n, const void*,
                                          cudaDataType type, int, const void*, cudaDataType, int,
                                          void* result, cudaDataType, cudaDataType) {
  if (handle->pointer_mode == CUBLAS_POINTER_MODE_HOST) std::memset(result, 0, sizeof(short));
  return multiply_vector(handle, 1, n, type);
}

HEADROOM_ENTRY cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* handle,
                                                       cublasComputeType_t compute, cudaDataType) {
  *handle = reinterpret_cast<cublasLtMatmulDesc_t>(new Description{compute, CUBLAS_OP_N});
  return CUBLAS_STATUS_SUCCESS;
}

HEADROOM_ENTRY cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t handle) {
  delete description_of(handle);
  return CUBLAS_STATUS_SUCCESS;
}

HEADROOM_ENTRY cublasStatus_t cublasLtMatmulDescSetAttribute(
    cublasLtMatmulDesc_t handle, cublasLtMatmulDescAttributes_t attribute, const void* value,
    std::size_t size) {
  if (attribute == CUBLASLT_MATMUL_DESC_TRANSA)
    std::memcpy(&description_of(handle)->transpose_a, value, size);
  return CUBLAS_STATUS_SUCCESS;
}

HEADROOM_ENTRY cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* handle,
                                                         cudaDataType type, std::uint64_t rows,
                                                         std::uint64_t columns,
                                                         std::int64_t leading) {
  *handle = reinterpret_cast<cublasLtMatrixLayout_t>(
      new Layout{type, rows, columns, leading, /*batch=*/1, /*apart=*/0});
  return CUBLAS_STATUS_SUCCESS;
}

HEADROOM_ENTRY cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t handle) {
  delete layout_of(handle);
  return CUBLAS_STATUS_SUCCESS;
}

HEADROOM_ENTRY cublasStatus_t cublasLtMatrixLayoutSetAttribute(
    cublasLtMatrixLayout_t handle, cublasLtMatrixLayoutAttribute_t attribute, const void* value,
    std::size_t size) {
  if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) {
    std::memcpy(&layout_of(handle)->batch, value, size);
  }
  if (attribute == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET) {
    std::memcpy(&layout_of(handle)->apart, value, size);
  }
  return CUBLAS_STATUS_SUCCESS;
}

// What limits the choice of an algorithm changes nothing here: there is one, and it needs no
// workspace beyond what the caller has set aside.

HEADROOM_ENTRY cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* handle) {
  *handle = new cublasLtMatmulPreferenceOpaque_t{};
  return CUBLAS_STATUS_SUCCESS;
}

HEADROOM_ENTRY cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

HEADROOM_ENTRY cublasStatus_t cublasLtMatmulPreferenceSetAttribute(
    cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t, const void*, std::size_t) {
  return CUBLAS_STATUS_SUCCESS;
}

HEADROOM_ENTRY cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
    cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int asked,
    cublasLtMatmulHeuristicResult_t* results, int* found) {
  *found = asked > 0 ? 1 : 0;
  if (asked > 0) *results = {};
  return CUBLAS_STATUS_SUCCESS;
}

HEADROOM_ENTRY cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t description,
                                             const void*, const void*, cublasLtMatrixLayout_t a,
                                             const void*, cublasLtMatrixLayout_t b, const void*,
                                             const void*, cublasLtMatrixLayout_t, void* to,
                                             cublasLtMatrixLayout_t d, const cublasLtMatmulAlgo_t*,
                                             void*, std::size_t, cudaStream_t stream) {
  const bool transposed = description_of(description)->transpose_a != CUBLAS_OP_N;
  const auto k = static_cast<std::int64_t>(transposed ? layout_of(a)->rows : layout_of(a)->columns);
  const auto m = static_cast<std::int64_t>(layout_of(d)->rows);
  const auto n = static_cast<std::int64_t>(layout_of(d)->columns);
  const cudaDataType type = layout_of(a)->type;
  const std::int64_t batch = layout_of(d)->batch;
  const std::int64_t rows_apart =
      row_bytes({layout_of(a)->leading, layout_of(b)->leading, layout_of(d)->leading}, type);
  run_product(stream, {.flops = product_flops(m, n, k, batch, type),
                       .precision = product_precision(
                           type, rounds_to_tf32(description_of(description)->compute)),
                       .bytes = product_bytes(m, n, k, batch, type),
                       .written_bytes = m * n * batch * element_bytes(layout_of(d)->type),
                       .row_bytes = rows_apart});
  forget({to, layout_of(d)->type, m, n, layout_of(d)->leading, batch, layout_of(d)->apart});
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace headroom::dry_run
