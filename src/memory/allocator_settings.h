// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "src/core/fields.h"

namespace headroom {

/// What a suite may say of PyTorch's caching allocator on CUDA; the names are those of
/// PYTORCH_ALLOC_CONF.
struct AllocatorSettings {
  bool expandable_segments = false;
  std::int64_t max_split_size_mb = 0;         // 0: blocks of any size are split
  double garbage_collection_threshold = 0.0;  // 0: none
  std::int64_t roundup_power2_divisions = 0;  // 0: sizes are rounded to 512 bytes

  void fields(Fields& f);
  /// As PYTORCH_ALLOC_CONF has them; empty: PyTorch's own defaults.
  std::string text() const;
};

/// Sets them for this process, before it takes memory of the device. Throws c10::Error for what the
/// allocator does not take.
void apply(const AllocatorSettings& settings);

}  // namespace headroom
