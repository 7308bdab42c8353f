// SPDX-License-Identifier: Apache-2.0
// cuSPARSELt: products with matrices of which two of four numbers in a row are zero. What it works
// in only its queries know: nothing is taken for it.
#include <cusparseLt.h>

#include <cstring>
#include <type_traits>

#include "src/dry_run/dry_run.h"

namespace headroom::dry_run {
namespace {

struct Matrix {
  std::int64_t rows;
  std::int64_t columns;
  cudaDataType type;
};

/// Lies in the caller's descriptor, as all that a library keeps for it.
template <class T, class Descriptor>
void keep(const T& value, Descriptor* descriptor) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(descriptor->data));
  std::memcpy(descriptor->data, &value, sizeof(value));
}

template <class T, class Descriptor>
T kept(const Descriptor* descriptor) {
  T value;
  std::memcpy(&value, descriptor->data, sizeof(value));
  return value;
}

/// Two of four numbers are neither read nor multiplied.
Product sparse_product(const Matrix& a, const Matrix& result, cusparseOperation_t a_is) {
  const std::int64_t summed = a_is == CUSPARSE_OPERATION_NON_TRANSPOSE ? a.columns : a.rows;
  const std::int64_t numbers = (result.rows + 2 * result.columns) * summed / 2;
  return {.flops = product_flops(result.rows, result.columns, summed, 1, a.type) / 2,
          .precision = product_precision(a.type, /*tensor_cores=*/true),
          .bytes = numbers * element_bytes(a.type)};
}

cusparseStatus_t describe(cusparseLtMatDescriptor_t* matrix, std::int64_t rows,
                          std::int64_t columns, cudaDataType type) {
  keep(Matrix{rows, columns, type}, matrix);
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t multiply(const cusparseLtMatmulPlan_t* plan, const cudaStream_t* streams,
                          std::int32_t count) {
  run_product(count > 0 ? streams[0] : nullptr, kept<Product>(plan));
  return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace

HEADROOM_ENTRY cusparseStatus_t cusparseLtInit(cusparseLtHandle_t*) {
  return CUSPARSE_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusparseStatus_t cusparseLtDestroy(const cusparseLtHandle_t*) {
  return CUSPARSE_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusparseStatus_t cusparseLtDenseDescriptorInit(
    const cusparseLtHandle_t*, cusparseLtMatDescriptor_t* matrix, std::int64_t rows,
    std::int64_t columns, std::int64_t, std::uint32_t, cudaDataType type, cusparseOrder_t) {
  return describe(matrix, rows, columns, type);
}

HEADROOM_ENTRY cusparseStatus_t cusparseLtStructuredDescriptorInit(
    const cusparseLtHandle_t*, cusparseLtMatDescriptor_t* matrix, std::int64_t rows,
    std::int64_t columns, std::int64_t, std::uint32_t, cudaDataType type, cusparseOrder_t,
    cusparseLtSparsity_t) {
  return describe(matrix, rows, columns, type);
}

HEADROOM_ENTRY cusparseStatus_t cusparseLtMatDescriptorDestroy(const cusparseLtMatDescriptor_t*) {
  return CUSPARSE_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusparseStatus_t cusparseLtMatmulDescriptorInit(
    const cusparseLtHandle_t*, cusparseLtMatmulDescriptor_t* product, cusparseOperation_t a_is,
    cusparseOperation_t, const cusparseLtMatDescriptor_t* a, const cusparseLtMatDescriptor_t*,
    const cusparseLtMatDescriptor_t*, const cusparseLtMatDescriptor_t* result,
    cusparseComputeType) {
  keep(sparse_product(kept<Matrix>(a), kept<Matrix>(result), a_is), product);
  return CUSPARSE_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusparseStatus_t cusparseLtMatmulDescSetAttribute(const cusparseLtHandle_t*,
                                                                 cusparseLtMatmulDescriptor_t*,
                                                                 cusparseLtMatmulDescAttribute_t,
                                                                 const void*, std::size_t) {
  return CUSPARSE_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusparseStatus_t
cusparseLtMatmulAlgSelectionInit(const cusparseLtHandle_t*, cusparseLtMatmulAlgSelection_t*,
                                 const cusparseLtMatmulDescriptor_t*, cusparseLtMatmulAlg_t) {
  return CUSPARSE_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusparseStatus_t
cusparseLtMatmulAlgSelectionDestroy(const cusparseLtMatmulAlgSelection_t*) {
  return CUSPARSE_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusparseStatus_t cusparseLtMatmulAlgSetAttribute(const cusparseLtHandle_t*,
                                                                cusparseLtMatmulAlgSelection_t*,
                                                                cusparseLtMatmulAlgAttribute_t,
                                                                const void*, std::size_t) {
  return CUSPARSE_STATUS_SUCCESS;
}

/// The first algorithm, with nothing split.
HEADROOM_ENTRY cusparseStatus_t cusparseLtMatmulAlgGetAttribute(
    const cusparseLtHandle_t*, const cusparseLtMatmulAlgSelection_t*,
    cusparseLtMatmulAlgAttribute_t attribute, void* value, std::size_t size) {
  std::memset(value, 0, size);
  if (attribute == CUSPARSELT_MATMUL_ALG_CONFIG_MAX_ID || attribute == CUSPARSELT_MATMUL_SPLIT_K) {
    *static_cast<int*>(value) = 1;
  }
  return CUSPARSE_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusparseStatus_t cusparseLtMatmulPlanInit(
    const cusparseLtHandle_t*, cusparseLtMatmulPlan_t* plan,
    const cusparseLtMatmulDescriptor_t* product, const cusparseLtMatmulAlgSelection_t*) {
  keep(kept<Product>(product), plan);
  return CUSPARSE_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusparseStatus_t cusparseLtMatmulPlanDestroy(const cusparseLtMatmulPlan_t*) {
  return CUSPARSE_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusparseStatus_t cusparseLtMatmulGetWorkspace(const cusparseLtHandle_t*,
                                                             const cusparseLtMatmulPlan_t*,
                                                             std::size_t* bytes) {
  *bytes = 0;
  note_estimated("cuSPARSELt");
  return CUSPARSE_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusparseStatus_t cusparseLtMatmul(const cusparseLtHandle_t*,
                                                 const cusparseLtMatmulPlan_t* plan, const void*,
                                                 const void*, const void*, const void*, const void*,
                                                 void*, void*, cudaStream_t* streams,
                                                 std::int32_t count) {
  return multiply(plan, streams, count);
}

/// It multiplies as well.
HEADROOM_ENTRY cusparseStatus_t cusparseLtMatmulSearch(const cusparseLtHandle_t*,
                                                       cusparseLtMatmulPlan_t* plan, const void*,
                                                       const void*, const void*, const void*,
                                                       const void*, void*, void*,
                                                       cudaStream_t* streams, std::int32_t count) {
  return multiply(plan, streams, count);
}

/// Half of the numbers, and two bits for each of these that say where it stood.
HEADROOM_ENTRY cusparseStatus_t
cusparseLtSpMMACompressedSize2(const cusparseLtHandle_t*, const cusparseLtMatDescriptor_t* matrix,
                               std::size_t* bytes, std::size_t* buffer_bytes) {
  const Matrix of = kept<Matrix>(matrix);
  const std::int64_t numbers = of.rows * of.columns / 2;
  *bytes = static_cast<std::size_t>(numbers * element_bytes(of.type) + numbers / 4);
  *buffer_bytes = 0;
  note_estimated("cuSPARSELt");
  return CUSPARSE_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusparseStatus_t cusparseLtSpMMACompress2(const cusparseLtHandle_t*,
                                                         const cusparseLtMatDescriptor_t* matrix,
                                                         int, cusparseOperation_t, const void*,
                                                         void*, void*, cudaStream_t stream) {
  const Matrix of = kept<Matrix>(matrix);
  const std::int64_t bytes = of.rows * of.columns * element_bytes(of.type);
  run_work(stream, memory_work(dry_run().gpu, {bytes + bytes / 2}));
  return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace headroom::dry_run
