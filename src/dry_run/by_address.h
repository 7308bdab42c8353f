// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iterator>

// What lies on the device in maps by where it begins, whose values have a `size` in bytes.
namespace headroom::dry_run {

inline std::uintptr_t number(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}

/// Those of a map by address that lie there in part.
template <class Map>
void erase_in(Map& map, std::uintptr_t begin, std::uintptr_t end) {
  auto each = map.lower_bound(begin);
  if (each != map.begin()) {
    const auto before = std::prev(each);
    if (before->first + before->second.size > begin) each = before;
  }
  while (each != map.end() && each->first < end) each = map.erase(each);
}

/// The one that an address lies in; null: there is none.
template <class Map>
const typename Map::value_type* range_around(const Map& map, std::uintptr_t address) {
  const auto behind = map.upper_bound(address);
  if (behind == map.begin()) return nullptr;
  const auto& found = *std::prev(behind);
  return address - found.first < found.second.size ? &found : nullptr;
}

}  // namespace headroom::dry_run
