// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/live_blocks.h"

#include <iterator>

namespace headroom::dry_run {

void LiveBlocks::note(const void* address, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  if (bytes > 0) {
    bytes_[begin] = bytes;
  } else {
    bytes_.erase(begin);
  }
}

std::int64_t LiveBlocks::behind(const void* address) const {
  const std::lock_guard lock(mutex_);
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  const auto next = bytes_.upper_bound(place);
  if (next == bytes_.begin()) return 0;
  const auto& [begin, bytes] = *std::prev(next);
  const std::uintptr_t before = place - begin;  // of what is no address it may be any number
  const auto all = static_cast<std::uintptr_t>(bytes);
  return before < all ? static_cast<std::int64_t>(all - before) : 0;
}

}  // namespace headroom::dry_run
