// SPDX-License-Identifier: Apache-2.0
#include "src/memory/allocator_settings.h"

#include <c10/core/AllocatorConfig.h>

namespace headroom {

void AllocatorSettings::fields(Fields& f) {
  f.boolean({"expandable_segments", "segments grow page by page, by CUDA's virtual memory"},
            expandable_segments);
  f.integer(
      {"max_split_size_mb", "MiB above which blocks are not split; 0: all are, else above 20"},
      max_split_size_mb, {0, 1'000'000});
  f.number({"garbage_collection_threshold",
            "share of the memory from which on cached blocks are freed; 0: they are not"},
           garbage_collection_threshold, {0.0, 0.99});
  f.integer({"roundup_power2_divisions",
             "steps between two powers of two to which sizes are rounded up, a power of two "
             "itself; 0: to 512 bytes"},
            roundup_power2_divisions, {0, 64});
}

std::string AllocatorSettings::text() const {
  std::string text;
  const auto add = [&text](const std::string& setting) {
    text += (text.empty() ? "" : ",") + setting;
  };
  if (expandable_segments) add("expandable_segments:True");
  if (max_split_size_mb > 0) add("max_split_size_mb:" + std::to_string(max_split_size_mb));
  if (garbage_collection_threshold > 0.0) {
    add("garbage_collection_threshold:" + std::to_string(garbage_collection_threshold));
  }
  if (roundup_power2_divisions > 0) {
    add("roundup_power2_divisions:" + std::to_string(roundup_power2_divisions));
  }
  return text;
}

void apply(const AllocatorSettings& settings) {
  if (const std::string text = settings.text(); !text.empty()) {
    c10::CachingAllocator::setAllocatorSettings(text);
  }
}

}  // namespace headroom
