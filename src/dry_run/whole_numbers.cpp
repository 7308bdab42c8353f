// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/whole_numbers.h"

#include <algorithm>
#include <cstring>

namespace headroom::dry_run {

std::optional<Extremes> extremes_of(const void* bytes, std::size_t size) {
  constexpr std::int64_t kLimit = std::int64_t{1} << 31;
  Extremes found;
  for (std::size_t i = 0; i + sizeof(std::int64_t) <= size; i += sizeof(std::int64_t)) {
    std::int64_t number = 0;
    std::memcpy(&number, static_cast<const unsigned char*>(bytes) + i, sizeof(number));
    if (number < -kLimit || number >= kLimit) return std::nullopt;
    found.smallest = std::min(found.smallest, number);
    found.largest = std::max(found.largest, number);
  }
  const bool are_zeros = found.smallest == 0 && found.largest == 0;
  return are_zeros || size % sizeof(std::int64_t) != 0 ? std::nullopt : std::optional(found);
}

}  // namespace headroom::dry_run
