// SPDX-License-Identifier: Apache-2.0
// cuSPARSE: products with sparse matrices, and the order of their elements. What it works in only
// its queries know; estimated: an index for each row of a product, and of what is sorted a copy of
// keys and places.
#include "src/dry_run/cusparse_matrix.h"

#include <algorithm>
#include <vector>

#include "src/dry_run/dry_run.h"

namespace headroom::dry_run {
namespace {

/// Each element of the sparse matrix is multiplied with a row of this many, which is read for it.
cusparseStatus_t multiply(cusparseHandle_t handle, cusparseConstSpMatDescr_t sparse,
                          std::int64_t columns, cudaDataType type) {
  const std::int64_t numbers = sparse->elements * columns * sparse->batch;
  run_product(handle->stream,
              {.flops = product_flops(sparse->elements, columns, 1, sparse->batch, type),
               .precision = product_precision(type, /*tensor_cores=*/false),
               .bytes = numbers * element_bytes(type)});
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t give_size(cusparseConstSpMatDescr_t sparse, std::size_t* bytes) {
  *bytes = static_cast<std::size_t>(sparse->batch * sparse->rows * kIndexBytes);
  note_estimated("cuSPARSE");
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t give_size_of_sort(std::int64_t elements, std::size_t* bytes) {
  *bytes = static_cast<std::size_t>(2 * elements * kIndexBytes);
  note_estimated("cuSPARSE");
  return CUSPARSE_STATUS_SUCCESS;
}

/// Reads so many indices, and writes as many.
cusparseStatus_t arrange(cusparseHandle_t handle, std::int64_t indices) {
  return move_bytes(handle, 2 * indices * kIndexBytes);
}

}  // namespace

HEADROOM_ENTRY cusparseStatus_t cusparseCreate(cusparseHandle_t* handle) {
  *handle = new cusparseContext;
  return CUSPARSE_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusparseStatus_t cusparseDestroy(cusparseHandle_t handle) {
  delete handle;
  return CUSPARSE_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUSPARSE_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t, cusparsePointerMode_t) {
  return CUSPARSE_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t* sparse, std::int64_t rows,
                                                  std::int64_t columns, std::int64_t elements,
                                                  void* offsets_of_rows, void* places, void*,
                                                  cusparseIndexType_t type_of_offsets,
                                                  cusparseIndexType_t type_of_places,
                                                  cusparseIndexBase_t, cudaDataType) {
  *sparse = new cusparseSpMatDescr{.rows = rows,
                                   .columns = columns,
                                   .elements = elements,
                                   .offsets = {offsets_of_rows, type_of_offsets},
                                   .places = {places, type_of_places}};
  return CUSPARSE_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusparseStatus_t cusparseCreateCoo(cusparseSpMatDescr_t* sparse, std::int64_t rows,
                                                  std::int64_t columns, std::int64_t elements,
                                                  void*, void*, void*, cusparseIndexType_t,
                                                  cusparseIndexBase_t, cudaDataType) {
  *sparse = new cusparseSpMatDescr{.rows = rows, .columns = columns, .elements = elements};
  return CUSPARSE_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t sparse) {
  delete sparse;
  return CUSPARSE_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusparseStatus_t cusparseCsrSetStridedBatch(cusparseSpMatDescr_t sparse, int batch,
                                                           std::int64_t, std::int64_t) {
  sparse->batch = batch;
  return CUSPARSE_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t* dense, std::int64_t rows,
                                                    std::int64_t columns, std::int64_t, void*,
                                                    cudaDataType, cusparseOrder_t) {
  *dense = new cusparseDnMatDescr{rows, columns};
  return CUSPARSE_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusparseStatus_t cusparseDnMatSetStridedBatch(cusparseDnMatDescr_t, int,
                                                             std::int64_t) {
  return CUSPARSE_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t dense) {
  delete dense;
  return CUSPARSE_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t* dense, std::int64_t size,
                                                    void*, cudaDataType) {
  *dense = new cusparseDnVecDescr{size};
  return CUSPARSE_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t dense) {
  delete dense;
  return CUSPARSE_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t, cusparseOperation_t,
                                                        cusparseOperation_t, const void*,
                                                        cusparseConstSpMatDescr_t a,
                                                        cusparseConstDnMatDescr_t, const void*,
                                                        cusparseDnMatDescr_t, cudaDataType,
                                                        cusparseSpMMAlg_t, std::size_t* bytes) {
  return give_size(a, bytes);
}

HEADROOM_ENTRY cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t,
                                             cusparseOperation_t, const void*,
                                             cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t,
                                             const void*, cusparseDnMatDescr_t c, cudaDataType type,
                                             cusparseSpMMAlg_t, void*) {
  return multiply(handle, a, c->columns, type);
}

HEADROOM_ENTRY cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t, cusparseOperation_t,
                                                        const void*, cusparseConstSpMatDescr_t a,
                                                        cusparseConstDnVecDescr_t, const void*,
                                                        cusparseDnVecDescr_t, cudaDataType,
                                                        cusparseSpMVAlg_t, std::size_t* bytes) {
  return give_size(a, bytes);
}

HEADROOM_ENTRY cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t,
                                             const void*, cusparseConstSpMatDescr_t a,
                                             cusparseConstDnVecDescr_t, const void*,
                                             cusparseDnVecDescr_t, cudaDataType type,
                                             cusparseSpMVAlg_t, void*) {
  return multiply(handle, a, /*columns=*/1, type);
}

// A product of dense matrices, of which the elements of a sparse one are computed.

HEADROOM_ENTRY cusparseStatus_t cusparseSDDMM_bufferSize(cusparseHandle_t, cusparseOperation_t,
                                                         cusparseOperation_t, const void*,
                                                         cusparseConstDnMatDescr_t,
                                                         cusparseConstDnMatDescr_t, const void*,
                                                         cusparseSpMatDescr_t c, cudaDataType,
                                                         cusparseSDDMMAlg_t, std::size_t* bytes) {
  return give_size(c, bytes);
}

HEADROOM_ENTRY cusparseStatus_t cusparseSDDMM_preprocess(cusparseHandle_t handle,
                                                         cusparseOperation_t, cusparseOperation_t,
                                                         const void*, cusparseConstDnMatDescr_t,
                                                         cusparseConstDnMatDescr_t, const void*,
                                                         cusparseSpMatDescr_t c, cudaDataType,
                                                         cusparseSDDMMAlg_t, void*) {
  return arrange(handle, c->rows);
}

HEADROOM_ENTRY cusparseStatus_t cusparseSDDMM(cusparseHandle_t handle, cusparseOperation_t a_is,
                                              cusparseOperation_t, const void*,
                                              cusparseConstDnMatDescr_t a,
                                              cusparseConstDnMatDescr_t, const void*,
                                              cusparseSpMatDescr_t c, cudaDataType type,
                                              cusparseSDDMMAlg_t, void*) {
  const bool is_transposed = a_is != CUSPARSE_OPERATION_NON_TRANSPOSE;
  return multiply(handle, c, is_transposed ? a->rows : a->columns, type);
}

/// Where each row of a matrix begins, by the rows of its elements, which are in order.
HEADROOM_ENTRY cusparseStatus_t cusparseXcoo2csr(cusparseHandle_t handle,
                                                 const int* rows_of_elements, int elements,
                                                 int rows, int* offsets, cusparseIndexBase_t) {
  const Indices known = known_indices({rows_of_elements, CUSPARSE_INDEX_32I}, elements);
  std::vector<int> found;
  for (int row = 0; row <= rows && !known.empty(); ++row) {
    const auto begin = std::lower_bound(known.begin(), known.end(), row);
    found.push_back(static_cast<int>(begin - known.begin()));
  }
  if (!found.empty()) dry_run().known.set(offsets, found.data(), found.size() * sizeof(int));
  return arrange(handle, elements);
}

HEADROOM_ENTRY cusparseStatus_t cusparseCreateIdentityPermutation(cusparseHandle_t handle,
                                                                  int elements, int*) {
  return arrange(handle, elements);
}

HEADROOM_ENTRY cusparseStatus_t cusparseXcoosort_bufferSizeExt(cusparseHandle_t, int, int,
                                                               int elements, const int*, const int*,
                                                               std::size_t* bytes) {
  return give_size_of_sort(elements, bytes);
}

HEADROOM_ENTRY cusparseStatus_t cusparseXcoosortByRow(cusparseHandle_t handle, int, int,
                                                      int elements, int*, int*, int*, void*) {
  return arrange(handle, 3LL * elements);
}

HEADROOM_ENTRY cusparseStatus_t cusparseXcsrsort_bufferSizeExt(cusparseHandle_t, int, int,
                                                               int elements, const int*, const int*,
                                                               std::size_t* bytes) {
  return give_size_of_sort(elements, bytes);
}

HEADROOM_ENTRY cusparseStatus_t cusparseXcsrsort(cusparseHandle_t handle, int, int, int elements,
                                                 cusparseMatDescr_t, const int*, int*, int*,
                                                 void*) {
  return arrange(handle, 2LL * elements);
}

HEADROOM_ENTRY cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t* matrix) {
  *matrix = new cusparseMatDescr;
  return CUSPARSE_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t matrix) {
  delete matrix;
  return CUSPARSE_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusparseStatus_t cusparseSetMatType(cusparseMatDescr_t, cusparseMatrixType_t) {
  return CUSPARSE_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusparseStatus_t cusparseSetMatIndexBase(cusparseMatDescr_t, cusparseIndexBase_t) {
  return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace headroom::dry_run
