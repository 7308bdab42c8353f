// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cusparse.h>

#include <cstdint>
#include <vector>

struct cusparseContext {
  cudaStream_t stream = nullptr;
};

namespace headroom::dry_run {

inline constexpr std::int64_t kIndexBytes = 4;

/// Whole numbers on the device.
struct IndexArray {
  const void* numbers = nullptr;
  cusparseIndexType_t type = CUSPARSE_INDEX_32I;
};

using Indices = std::vector<std::int64_t>;

/// Empty: they are not all known.
Indices known_indices(const IndexArray& array, std::int64_t count);

/// A kernel that reads and writes so many bytes, together, on the handle's stream.
cusparseStatus_t move_bytes(cusparseHandle_t handle, std::int64_t bytes);

}  // namespace headroom::dry_run

struct cusparseSpMatDescr {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t elements;
  int batch = 1;
  headroom::dry_run::IndexArray offsets{};  // of compressed rows alone: where each begins
  headroom::dry_run::IndexArray places{};   // likewise: the columns of their elements
};

struct cusparseMatDescr {};  // of older functions: only properties, in which no plan differs

struct cusparseDnMatDescr {
  std::int64_t rows;
  std::int64_t columns;
};

struct cusparseDnVecDescr {
  std::int64_t size;
};
