// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/cusparse_matrix.h"

#include <cstring>

#include "src/dry_run/dry_run.h"

namespace headroom::dry_run {

Indices known_indices(const IndexArray& array, std::int64_t count) {
  const bool is_wide = array.type == CUSPARSE_INDEX_64I;
  const std::size_t width = is_wide ? sizeof(std::int64_t) : sizeof(std::int32_t);
  Trust trust;
  const auto bytes =
      dry_run().known.find(array.numbers, static_cast<std::size_t>(count) * width, &trust);
  if (bytes.empty() || trust.is_assumed) return {};
  Indices indices(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < indices.size(); ++i) {
    std::int32_t narrow = 0;
    if (is_wide) {
      std::memcpy(&indices[i], &bytes[i * width], width);
    } else {
      std::memcpy(&narrow, &bytes[i * width], width);
      indices[i] = narrow;
    }
  }
  return indices;
}

cusparseStatus_t move_bytes(cusparseHandle_t handle, std::int64_t bytes) {
  run_work(handle->stream, memory_work(dry_run().gpu, {bytes}));
  return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace headroom::dry_run
