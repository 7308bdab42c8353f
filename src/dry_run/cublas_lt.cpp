// SPDX-License-Identifier: Apache-2.0
// cuBLASLt: products that are described first, and done then.
#include <cublasLt.h>

#include <cstring>

#include "src/dry_run/dry_run.h"
#include "src/dry_run/product.h"

using namespace headroom::dry_run;

namespace {

// What the handles point to.
struct Description {
  cublasComputeType_t compute;
  cublasOperation_t transpose_a;
};

struct Layout {
  cudaDataType type;
  std::uint64_t rows;
  std::uint64_t columns;
  std::int32_t batch;
};

Description* of(cublasLtMatmulDesc_t handle) { return reinterpret_cast<Description*>(handle); }
Layout* of(cublasLtMatrixLayout_t handle) { return reinterpret_cast<Layout*>(handle); }

}  // namespace

HEADROOM_ENTRY std::size_t cublasLtGetVersion() { return CUBLAS_VERSION; }

HEADROOM_ENTRY cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* handle,
                                                       cublasComputeType_t compute, cudaDataType) {
  *handle = reinterpret_cast<cublasLtMatmulDesc_t>(new Description{compute, CUBLAS_OP_N});
  return CUBLAS_STATUS_SUCCESS;
}

HEADROOM_ENTRY cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t handle) {
  delete of(handle);
  return CUBLAS_STATUS_SUCCESS;
}

HEADROOM_ENTRY cublasStatus_t cublasLtMatmulDescSetAttribute(
    cublasLtMatmulDesc_t handle, cublasLtMatmulDescAttributes_t attribute, const void* value,
    std::size_t size) {
  if (attribute == CUBLASLT_MATMUL_DESC_TRANSA) std::memcpy(&of(handle)->transpose_a, value, size);
  return CUBLAS_STATUS_SUCCESS;
}

HEADROOM_ENTRY cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* handle,
                                                         cudaDataType type, std::uint64_t rows,
                                                         std::uint64_t columns, std::int64_t) {
  *handle = reinterpret_cast<cublasLtMatrixLayout_t>(new Layout{type, rows, columns, /*batch=*/1});
  return CUBLAS_STATUS_SUCCESS;
}

HEADROOM_ENTRY cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t handle) {
  delete of(handle);
  return CUBLAS_STATUS_SUCCESS;
}

HEADROOM_ENTRY cublasStatus_t cublasLtMatrixLayoutSetAttribute(
    cublasLtMatrixLayout_t handle, cublasLtMatrixLayoutAttribute_t attribute, const void* value,
    std::size_t size) {
  if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) {
    std::memcpy(&of(handle)->batch, value, size);
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
                                             const void*, cublasLtMatrixLayout_t, const void*,
                                             const void*, cublasLtMatrixLayout_t, void*,
                                             cublasLtMatrixLayout_t d, const cublasLtMatmulAlgo_t*,
                                             void*, std::size_t, cudaStream_t stream) {
  const bool transposed = of(description)->transpose_a != CUBLAS_OP_N;
  const auto k = static_cast<std::int64_t>(transposed ? of(a)->rows : of(a)->columns);
  const auto m = static_cast<std::int64_t>(of(d)->rows);
  const auto n = static_cast<std::int64_t>(of(d)->columns);
  run_product(stream, product_flops(m, n, k, of(d)->batch, of(a)->type),
              product_precision(of(a)->type, rounds_to_tf32(of(description)->compute)));
  return CUBLAS_STATUS_SUCCESS;
}
