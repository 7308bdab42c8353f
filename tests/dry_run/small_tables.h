// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "src/dry_run/known_bytes.h"

// Tensors for launches of small kernels: what lies where on a device that is not there.
namespace headroom::dry_run {

inline const char* table(std::size_t number) {
  return reinterpret_cast<const char*>(std::uintptr_t{1} << 40U) + number;
}
inline bool is_table(const void* address) { return address >= table(0); }

/// at::cuda::detail::TensorInfo of int64 indices.
struct TableInfo {
  const char* data;
  std::array<std::int64_t, 25> sizes;
  std::array<std::int64_t, 25> strides;
  int dimensions;
};

template <class T>
void put_table(KnownBytes& known, std::size_t at, const std::vector<T>& numbers) {
  known.set(table(at), numbers.data(), numbers.size() * sizeof(T));
}
/// Empty: nothing is known.
template <class T>
std::vector<T> table_of(const KnownBytes& known, std::size_t at, std::size_t count) {
  const auto bytes = known.find(table(at), count * sizeof(T));
  std::vector<T> numbers(bytes.size() / sizeof(T));
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

}  // namespace headroom::dry_run
