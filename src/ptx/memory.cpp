// SPDX-License-Identifier: Apache-2.0
#include "src/ptx/memory.h"

#include <algorithm>
#include <cstring>

namespace headroom::ptx {
namespace {

bool holds(const Range& range, std::uint64_t address, std::size_t bytes) {
  return address >= range.begin && address - range.begin + bytes <= range.bytes.size();
}

}  // namespace

/// The place of the range that holds them; else how many there are.
std::size_t Memory::find(std::uint64_t address, std::size_t bytes) const {
  if (last_ < ranges.size() && holds(ranges[last_], address, bytes)) return last_;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (holds(ranges[i], address, bytes)) return last_ = i;
  }
  return ranges.size();
}

bool Memory::load(std::uint64_t address, std::size_t bytes, std::uint64_t& value) const {
  const std::size_t found = find(address, bytes);
  if (found == ranges.size()) return false;
  const Range& range = ranges[found];
  const std::size_t place = address - range.begin;
  for (std::size_t i = 0; i < bytes; ++i) {
    if (!range.is_known[place + i]) return false;
  }
  value = 0;
  std::memcpy(&value, range.bytes.data() + place, bytes);
  return true;
}

bool Memory::store(std::uint64_t address, std::size_t bytes, const std::uint64_t* value) {
  const std::size_t found = find(address, bytes);
  if (found == ranges.size()) return false;
  Range& range = ranges[found];
  const std::size_t place = address - range.begin;
  if (value != nullptr) std::memcpy(range.bytes.data() + place, value, bytes);
  for (std::size_t i = 0; i < bytes; ++i) range.is_known[place + i] = value != nullptr;
  range.is_written = true;
  return true;
}

}  // namespace headroom::ptx
