// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "src/ptx/kernel.h"

// The numbers that threads calculate with, as registers hold them and as C++ does.
namespace headroom::ptx {

using TypeKind = Type::Kind;

template <class T>
T read(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(bits);
  } else {
    return static_cast<T>(bits);
  }
}

template <class T>
std::uint64_t written(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<std::uint32_t>(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<std::uint64_t>(value);
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? 1 : 0;
  } else {
    return static_cast<std::make_unsigned_t<T>>(value);
  }
}

/// Calls `made` with a number of the C++ type. False: there is none.
template <class Made>
bool by_type(const Type& type, Made made) {
  const bool is_signed = type.kind == TypeKind::is_signed;
  if (type.kind == TypeKind::floating) {
    if (type.bits == 32) return made(float{});
    return type.bits == 64 && made(double{});
  }
  switch (type.bits) {
    case 1:
      return made(std::uint8_t{});  // a predicate
    case 8:
      return is_signed ? made(std::int8_t{}) : made(std::uint8_t{});
    case 16:
      return is_signed ? made(std::int16_t{}) : made(std::uint16_t{});
    case 32:
      return is_signed ? made(std::int32_t{}) : made(std::uint32_t{});
    case 64:
      return is_signed ? made(std::int64_t{}) : made(std::uint64_t{});
    default:
      return false;
  }
}

/// Which some instructions take for zero.
inline bool is_subnormal(const Type& type, std::uint64_t bits) {
  if (type.kind != TypeKind::floating) return false;
  const int kind =
      type.bits == 32 ? std::fpclassify(read<float>(bits)) : std::fpclassify(read<double>(bits));
  return kind == FP_SUBNORMAL;
}

/// The operands of all threads, and where their results go.
struct Operands {
  template <class T, class Result>
  bool each(Result result) const {
    for (std::size_t i = 0; i < count; ++i) to[i] = written(result(read<T>(from[0][i])));
    return true;
  }
  template <class T, class Result>
  bool each_of_two(Result result) const {
    for (std::size_t i = 0; i < count; ++i) {
      to[i] = written(result(read<T>(from[0][i]), read<T>(from[1][i])));
    }
    return true;
  }

  std::size_t count;
  const std::uint64_t* const* from;
  std::uint64_t* to;
};

}  // namespace headroom::ptx
