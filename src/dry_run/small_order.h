// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

// In which order kernels of PyTorch and CUB sort numbers.
namespace headroom::dry_run {

/// Of the types that are followed; those of LibTorch's are none of the standard library's.
template <class T>
constexpr bool kIsFloating = !std::is_integral_v<T>;

/// A number's bits, so that they stand in the order of the numbers, as CUB's radix sorts go by. Of
/// what is no number, the sign says on which side of all others it stands.
template <class T>
std::uint64_t ordered_bits(T value) {
  constexpr unsigned kBits = 8 * sizeof(T);
  constexpr std::uint64_t kSign = std::uint64_t{1} << (kBits - 1);
  constexpr std::uint64_t kAll = ~std::uint64_t{0} >> (64 - kBits);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(value));
  if constexpr (kIsFloating<T>) {
    if (bits == kSign) bits = 0;  // below 0 as well as above
    return (bits & kSign) != 0 ? ~bits & kAll : bits | kSign;
  } else if constexpr (std::is_signed_v<T>) {
    return bits ^ kSign;
  } else {
    return bits;
  }
}

/// Whether one comes before the other, what is no number behind all others in ascending order and
/// before them in descending order.
template <class T>
bool comes_first(T one, T other, bool is_descending) {
  if constexpr (kIsFloating<T>) {
    const bool is_number = one == one;
    const bool is_other_number = other == other;
    if (is_number != is_other_number) return is_descending ? !is_number : is_number;
  }
  return is_descending ? one > other : one < other;
}

}  // namespace headroom::dry_run
