// SPDX-License-Identifier: Apache-2.0
#include "src/ptx/arithmetic.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "src/ptx/operands.h"

namespace headroom::ptx {
namespace {

/// Overflows wrap round, as unsigned numbers do.
template <class T, class Result>
T wrapping(T a, T b, Result result) {
  using Unsigned = std::make_unsigned_t<T>;
  // What is narrower than an int would become one.
  using Wide = std::conditional_t<(sizeof(T) < sizeof(unsigned)), unsigned, Unsigned>;
  return static_cast<T>(result(static_cast<Wide>(static_cast<Unsigned>(a)),
                               static_cast<Wide>(static_cast<Unsigned>(b))));
}

template <class T>
T quotient(T a, T b) {
  if (b == 0) return static_cast<T>(~T{0});
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return wrapping(T{0}, a, [](auto x, auto y) { return x - y; });
  }
  return static_cast<T>(a / b);
}

template <class T>
T product_high(T a, T b) {
  __extension__ using Signed = __int128;
  __extension__ using Unsigned = unsigned __int128;
  using Wide = std::conditional_t<std::is_signed_v<T>, Signed, Unsigned>;
  return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> (8 * sizeof(T)));
}

template <class T>
bool calculate_floats(Operation operation, const Operands& all) {
  switch (operation) {
    case Operation::add:
      return all.each_of_two<T>([](T a, T b) { return a + b; });
    case Operation::subtract:
      return all.each_of_two<T>([](T a, T b) { return a - b; });
    case Operation::multiply:
      return all.each_of_two<T>([](T a, T b) { return a * b; });
    case Operation::minimum:
      return all.each_of_two<T>([](T a, T b) { return std::fmin(a, b); });
    case Operation::maximum:
      return all.each_of_two<T>([](T a, T b) { return std::fmax(a, b); });
    case Operation::negate:
      return all.each<T>([](T a) { return -a; });
    case Operation::absolute:
      return all.each<T>([](T a) { return std::fabs(a); });
    default:
      return false;
  }
}

template <class T>
bool calculate_numbers(Operation operation, const Operands& all) {
  switch (operation) {
    case Operation::add:
      return all.each_of_two<T>(
          [](T a, T b) { return wrapping(a, b, [](auto x, auto y) { return x + y; }); });
    case Operation::subtract:
      return all.each_of_two<T>(
          [](T a, T b) { return wrapping(a, b, [](auto x, auto y) { return x - y; }); });
    case Operation::multiply:
      return all.each_of_two<T>(
          [](T a, T b) { return wrapping(a, b, [](auto x, auto y) { return x * y; }); });
    case Operation::multiply_high:
      return all.each_of_two<T>([](T a, T b) { return product_high(a, b); });
    case Operation::minimum:
      return all.each_of_two<T>([](T a, T b) { return std::min(a, b); });
    case Operation::maximum:
      return all.each_of_two<T>([](T a, T b) { return std::max(a, b); });
    case Operation::divide:
      return all.each_of_two<T>([](T a, T b) { return quotient(a, b); });
    case Operation::remainder:
      return all.each_of_two<T>([](T a, T b) {
        if (b == 0) return a;
        return wrapping(a, wrapping(quotient(a, b), b, [](auto x, auto y) { return x * y; }),
                        [](auto x, auto y) { return x - y; });
      });
    case Operation::bit_and:
      return all.each_of_two<T>([](T a, T b) { return static_cast<T>(a & b); });
    case Operation::bit_or:
      return all.each_of_two<T>([](T a, T b) { return static_cast<T>(a | b); });
    case Operation::bit_xor:
      return all.each_of_two<T>([](T a, T b) { return static_cast<T>(a ^ b); });
    case Operation::bit_not:
      return all.each<T>([](T a) { return static_cast<T>(~a); });
    case Operation::negate:
      return all.each<T>(
          [](T a) { return wrapping(T{0}, a, [](auto x, auto y) { return x - y; }); });
    case Operation::absolute:
      return all.each<T>([](T a) {
        const bool is_negative = std::is_signed_v<T> && (written(a) >> (8 * sizeof(T) - 1)) != 0;
        return is_negative ? wrapping(T{0}, a, [](auto x, auto y) { return x - y; }) : a;
      });
    case Operation::count_bits:
      return all.each<T>([](T a) {
        return static_cast<std::uint32_t>(std::popcount(static_cast<std::make_unsigned_t<T>>(a)));
      });
    default:
      return false;
  }
}

/// By so many bits as their type has, or more, nothing is left but the sign.
template <class T>
bool shift(Operation operation, const Operands& all) {
  constexpr std::uint64_t kBits = 8 * sizeof(T);
  for (std::size_t i = 0; i < all.count; ++i) {
    const T a = read<T>(all.from[0][i]);
    const std::uint64_t by = std::min(all.from[1][i] & 0xffffffff, kBits);
    const std::uint64_t last = std::min(by, kBits - 1);
    if (operation == Operation::shift_left) {
      all.to[i] = by == kBits ? 0 : written(static_cast<T>(written(a) << by));
    } else if (std::is_signed_v<T>) {
      all.to[i] = written(static_cast<T>(a >> last));
    } else {
      all.to[i] = by == kBits ? 0 : written(static_cast<T>(a >> by));
    }
  }
  return true;
}

/// So many bits of a number from a place on; of a signed one with the sign of the last of them.
template <class T>
std::uint64_t bits_of(T a, std::uint64_t place, std::uint64_t length) {
  constexpr std::uint64_t kBits = 8 * sizeof(T);
  if (length == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    const std::uint64_t last = std::min(place + length - 1, kBits - 1);
    const auto at_top = static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << (63 - last));
    const std::uint64_t by = std::min<std::uint64_t>(63, 63 - last + place);
    return written(static_cast<T>(at_top >> by));
  } else {
    if (place >= kBits) return 0;
    const std::uint64_t mask = length >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << length) - 1;
    return (written(a) >> place) & mask;
  }
}

template <class T>
bool take_bits(const Operands& all) {
  for (std::size_t i = 0; i < all.count; ++i) {
    all.to[i] = bits_of(read<T>(all.from[0][i]), all.from[1][i] & 0xff, all.from[2][i] & 0xff);
  }
  return true;
}

/// Each of four bytes is the one of eight, those of `a` the lower, that a nibble says; with its
/// highest bit, that byte's sign alone.
std::uint64_t permuted(std::uint64_t a, std::uint64_t b, std::uint64_t nibbles) {
  const std::uint64_t bytes = (b << 32) | (a & 0xffffffff);
  std::uint64_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const std::uint64_t nibble = nibbles >> (4 * i) & 15;
    std::uint64_t byte = bytes >> (8 * (nibble & 7)) & 0xff;
    if ((nibble & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}

bool permute(const Operands& all) {
  for (std::size_t i = 0; i < all.count; ++i) {
    all.to[i] = permuted(all.from[0][i], all.from[1][i], all.from[2][i]);
  }
  return true;
}

/// A product, with twice the bits of its factors or with as many, and a third number.
template <class T>
bool multiply_add(Operation operation, const Operands& all) {
  for (std::size_t i = 0; i < all.count; ++i) {
    const T a = read<T>(all.from[0][i]);
    const T b = read<T>(all.from[1][i]);
    if constexpr (std::is_floating_point_v<T>) {
      if (operation != Operation::multiply_add) return false;
      all.to[i] = written(std::fma(a, b, read<T>(all.from[2][i])));
    } else {
      const auto wide = static_cast<std::uint64_t>(product_high(a, b)) << (8 * sizeof(T) % 64);
      const std::uint64_t low = written(wrapping(a, b, [](auto x, auto y) { return x * y; }));
      const std::uint64_t product = operation == Operation::multiply_add ? low : wide | low;
      const std::uint64_t sum =
          product + (operation == Operation::multiply_wide ? 0 : all.from[2][i]);
      constexpr std::uint64_t kWide =
          sizeof(T) >= 4 ? ~std::uint64_t{0} : (std::uint64_t{1} << (16 * sizeof(T) % 64)) - 1;
      all.to[i] = operation == Operation::multiply_add ? written(static_cast<T>(sum)) : sum & kWide;
    }
  }
  return true;
}

template <class T>
bool compared(Comparison comparison, bool is_unordered, T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return is_unordered;
  }
  switch (comparison) {
    case Comparison::eq:
      return a == b;
    case Comparison::ne:
      return a != b;
    case Comparison::lt:
      return a < b;
    case Comparison::le:
      return a <= b;
    case Comparison::gt:
      return a > b;
    default:
      return a >= b;
  }
}

std::uint64_t combined(Combination combination, bool compared, bool other) {
  switch (combination) {
    case Combination::bit_and:
      return (compared && other) ? 1 : 0;
    case Combination::bit_or:
      return (compared || other) ? 1 : 0;
    case Combination::bit_xor:
      return compared != other ? 1 : 0;
    default:
      return compared ? 1 : 0;
  }
}

template <class T>
bool compare(const Instruction& instruction, const Operands& all) {
  const bool is_combined = instruction.combination != Combination::none;
  for (std::size_t i = 0; i < all.count; ++i) {
    const bool result = compared(instruction.comparison, instruction.is_unordered,
                                 read<T>(all.from[0][i]), read<T>(all.from[1][i]));
    all.to[i] = combined(instruction.combination, result, is_combined && all.from[2][i] != 0);
  }
  return true;
}

/// To a whole number a float is cut, and limited to what there is room for; no number is 0.
template <class To, class From>
To converted(From value) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (std::isnan(value)) return 0;
    constexpr auto kLeast = std::numeric_limits<To>::min();
    constexpr auto kMost = std::numeric_limits<To>::max();
    if (value <= static_cast<From>(kLeast)) return kLeast;
    if (value >= static_cast<From>(kMost)) return kMost;
  }
  return static_cast<To>(value);
}

bool convert(const Instruction& instruction, const Operands& all) {
  return by_type(instruction.from_type, [&](auto from) {
    using From = decltype(from);
    return by_type(instruction.type, [&](auto to) {
      return all.each<From>([&](From value) { return converted<decltype(to)>(value); });
    });
  });
}

bool select(const Operands& all) {
  for (std::size_t i = 0; i < all.count; ++i) {
    all.to[i] = all.from[2][i] != 0 ? all.from[0][i] : all.from[1][i];
  }
  return true;
}

template <class T>
bool calculate_of(const Instruction& instruction, const Operands& all) {
  switch (instruction.operation) {
    case Operation::multiply_wide:
    case Operation::multiply_add:
    case Operation::multiply_add_wide:
      return multiply_add<T>(instruction.operation, all);
    case Operation::compare:
      return compare<T>(instruction, all);
    case Operation::select:
      return select(all);
    case Operation::permute:
      return permute(all);
    case Operation::move:
      return all.each<T>([](T a) { return a; });
    default:
      break;
  }
  if constexpr (std::is_floating_point_v<T>) {
    return calculate_floats<T>(instruction.operation, all);
  } else {
    switch (instruction.operation) {
      case Operation::shift_left:
      case Operation::shift_right:
        return shift<T>(instruction.operation, all);
      case Operation::bit_field:
        return take_bits<T>(all);
      default:
        return calculate_numbers<T>(instruction.operation, all);
    }
  }
}

/// Of a predicate one bit counts.
bool calculate_predicates(const Instruction& instruction, const Operands& all) {
  if (!calculate_of<std::uint8_t>(instruction, all)) return false;
  for (std::size_t i = 0; i < all.count; ++i) all.to[i] &= 1;
  return true;
}

std::size_t operands_of(Operation operation) {
  switch (operation) {
    case Operation::move:
    case Operation::convert:
    case Operation::bit_not:
    case Operation::negate:
    case Operation::absolute:
    case Operation::count_bits:
      return 1;
    case Operation::multiply_add:
    case Operation::multiply_add_wide:
    case Operation::bit_field:
    case Operation::permute:
    case Operation::select:
      return 3;
    default:
      return 2;
  }
}

}  // namespace

bool calculate(const Instruction& instruction, std::size_t threads,
               const std::uint64_t* const* from, std::uint64_t* to) {
  const bool is_combined = instruction.combination != Combination::none;
  if (instruction.from.size() < operands_of(instruction.operation) + (is_combined ? 1 : 0)) {
    return false;
  }
  const Operands all{threads, from, to};
  if (instruction.operation == Operation::convert) return convert(instruction, all);
  if (instruction.type.kind == TypeKind::predicate) return calculate_predicates(instruction, all);
  const bool is_followed = by_type(instruction.type, [&](auto number) {
    return calculate_of<decltype(number)>(instruction, all);
  });
  const bool makes_floats =
      instruction.type.kind == TypeKind::floating && instruction.operation != Operation::compare;
  if (!is_followed || !makes_floats) return is_followed;
  return std::none_of(to, to + threads,
                      [&](std::uint64_t bits) { return is_subnormal(instruction.type, bits); });
}

}  // namespace headroom::ptx
