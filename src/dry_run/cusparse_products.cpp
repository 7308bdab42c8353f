// SPDX-License-Identifier: Apache-2.0
// cuSPARSE: products of two sparse matrices in compressed rows. The result has as many elements as
// the places of theirs say; where these are not known, as many as places by chance give. What it
// works in only its queries know; estimated: each product of two elements twice, with its column,
// and an index. Of two matrices of 600 x 600 float64, all of them elements, it took some 6 GB
// (github.com/cupy/cupy/issues/7044), which is 28 bytes for each of 216 million products.
#include <algorithm>
#include <cmath>
#include <vector>

#include "src/dry_run/cusparse_matrix.h"
#include "src/dry_run/dry_run.h"

struct cusparseSpGEMMDescr {
  std::int64_t products = 0;   // of two elements
  std::vector<int> offsets{};  // of the result; empty: they are not known
  std::vector<int> places{};
};

namespace headroom::dry_run {
namespace {

constexpr std::int64_t kMaxProducts = 1 << 26;  // more would take the plan too long

struct Rows {
  explicit Rows(const cusparseSpMatDescr& matrix)
      : offsets(known_indices(matrix.offsets, matrix.rows + 1)),
        places(known_indices(matrix.places, matrix.elements)) {
    const auto is_column = [&](std::int64_t place) { return place >= 0 && place < matrix.columns; };
    are_known = !offsets.empty() && offsets.front() == 0 && offsets.back() == matrix.elements &&
                std::is_sorted(offsets.begin(), offsets.end()) &&
                std::all_of(places.begin(), places.end(), is_column) &&
                static_cast<std::int64_t>(places.size()) == matrix.elements;
  }
  std::int64_t size(std::int64_t row) const {
    const auto at = static_cast<std::size_t>(row);
    return offsets[at + 1] - offsets[at];
  }

  Indices offsets;
  Indices places;
  bool are_known = false;
};

std::int64_t count_products(const cusparseSpMatDescr& a, const Rows& of_a,
                            const cusparseSpMatDescr& b, const Rows& of_b) {
  if (!of_a.are_known || !of_b.are_known) {
    return a.elements * b.elements / std::max<std::int64_t>(b.rows, 1);
  }
  std::int64_t products = 0;
  for (const std::int64_t place : of_a.places) products += of_b.size(place);
  return products;
}

void find_elements(const Rows& of_a, const Rows& of_b, std::int64_t columns,
                   cusparseSpGEMMDescr& result) {
  std::vector<std::int64_t> last_row(static_cast<std::size_t>(columns), -1);  // that has it
  result.offsets = {0};
  for (std::size_t row = 0; row + 1 < of_a.offsets.size(); ++row) {
    for (auto i = of_a.offsets[row]; i < of_a.offsets[row + 1]; ++i) {
      const auto other = static_cast<std::size_t>(of_a.places[static_cast<std::size_t>(i)]);
      for (auto j = of_b.offsets[other]; j < of_b.offsets[other + 1]; ++j) {
        const std::int64_t place = of_b.places[static_cast<std::size_t>(j)];
        std::int64_t& last = last_row[static_cast<std::size_t>(place)];
        if (last != static_cast<std::int64_t>(row))
          result.places.push_back(static_cast<int>(place));
        last = static_cast<std::int64_t>(row);
      }
    }
    std::sort(result.places.begin() + result.offsets.back(), result.places.end());
    result.offsets.push_back(static_cast<int>(result.places.size()));
  }
}

/// How many of the places are met by so many products at random.
std::int64_t expected_elements(std::int64_t places, std::int64_t products) {
  const auto all = static_cast<double>(places);
  const double met = all * -std::expm1(-static_cast<double>(products) / std::max(all, 1.0));
  return static_cast<std::int64_t>(met);
}

void multiply(const cusparseSpMatDescr& a, const cusparseSpMatDescr& b, cusparseSpMatDescr& c,
              cusparseSpGEMMDescr& result) {
  const Rows of_a(a);
  const Rows of_b(b);
  result = {.products = count_products(a, of_a, b, of_b)};
  if (of_a.are_known && of_b.are_known && result.products <= kMaxProducts) {
    find_elements(of_a, of_b, b.columns, result);
    c.elements = static_cast<std::int64_t>(result.places.size());
  } else {
    c.elements = expected_elements(a.rows * b.columns, result.products);
  }
}

}  // namespace

HEADROOM_ENTRY cusparseStatus_t cusparseSpGEMM_createDescr(cusparseSpGEMMDescr_t* result) {
  *result = new cusparseSpGEMMDescr;
  return CUSPARSE_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusparseStatus_t cusparseSpGEMM_destroyDescr(cusparseSpGEMMDescr_t result) {
  delete result;
  return CUSPARSE_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusparseStatus_t cusparseSpGEMM_workEstimation(
    cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t, const void*,
    cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t, const void*, cusparseSpMatDescr_t,
    cudaDataType, cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t, std::size_t* bytes, void* buffer) {
  if (buffer != nullptr) return move_bytes(handle, a->elements * kIndexBytes);
  *bytes = static_cast<std::size_t>((a->rows + 1) * kIndexBytes);
  note_estimated("cuSPARSE");
  return CUSPARSE_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusparseStatus_t
cusparseSpGEMM_compute(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t,
                       const void*, cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                       const void*, cusparseSpMatDescr_t c, cudaDataType type, cusparseSpGEMMAlg_t,
                       cusparseSpGEMMDescr_t result, std::size_t* bytes, void* buffer) {
  const std::int64_t bytes_of_product = element_bytes(type) + kIndexBytes;
  if (buffer != nullptr) return move_bytes(handle, 2 * result->products * bytes_of_product);
  multiply(*a, *b, *c, *result);
  *bytes = static_cast<std::size_t>(result->products * (2 * bytes_of_product + kIndexBytes));
  return CUSPARSE_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t sparse,
                                                     std::int64_t* rows, std::int64_t* columns,
                                                     std::int64_t* elements) {
  *rows = sparse->rows;
  *columns = sparse->columns;
  *elements = sparse->elements;
  return CUSPARSE_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t sparse, void* offsets,
                                                       void* places, void*) {
  sparse->offsets.numbers = offsets;
  sparse->places.numbers = places;
  return CUSPARSE_STATUS_SUCCESS;
}

HEADROOM_ENTRY cusparseStatus_t cusparseSpGEMM_copy(
    cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t, const void*,
    cusparseConstSpMatDescr_t, cusparseConstSpMatDescr_t, const void*, cusparseSpMatDescr_t c,
    cudaDataType type, cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t result) {
  if (!result->offsets.empty() && c->offsets.type == CUSPARSE_INDEX_32I) {
    KnownBytes& known = dry_run().known;
    known.set(c->offsets.numbers, result->offsets.data(), result->offsets.size() * sizeof(int));
    known.set(c->places.numbers, result->places.data(), result->places.size() * sizeof(int));
  }
  return move_bytes(handle, 2 * c->elements * (element_bytes(type) + kIndexBytes));
}

}  // namespace headroom::dry_run
