// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_logic.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "src/dry_run/small_launch.h"

namespace headroom::dry_run {
namespace {

using Bytes = std::vector<unsigned char>;

bool is_or(const char* name) {
  return has(name, "13BinaryFunctorIbbbNS0_16BitwiseOrFunctorIbEE") && !has(name, "WithCastILi");
}
bool is_not(const char* name) {
  return has(name, "bitwise_not_kernel_cuda") && has(name, "EUlbE_") && !has(name, "WithCastILi");
}
bool is_product(const char* name) {
  return has(name, "13BinaryFunctorIbbbNS0_15binary_internal10MulFunctorIbEE") &&
         !has(name, "WithCastILi");
}
bool is_and(const char* name) {
  return has(name, "13BinaryFunctorIlllNS0_17BitwiseAndFunctorIlEE");
}

bool are_all(const Numbers& numbers, std::int64_t value) {
  return !numbers.empty() && std::ranges::all_of(numbers, [&](auto each) { return each == value; });
}

/// Of each element what `join` makes of both sides, or `decided` where all of one side is.
template <class Join>
Numbers joined(const Numbers& one, const Numbers& other, std::int64_t decided, const Join& join) {
  if (are_all(one, decided)) return one;
  if (are_all(other, decided)) return other;
  if (one.size() != other.size()) return {};  // one of them is not known
  Numbers result = one;
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = join(result[i], other[i]);
  return result;
}

/// Whole numbers of so many bytes each.
Numbers numbers_at(Inputs& inputs, const void* from, std::size_t count, std::size_t width) {
  const Bytes bytes = inputs.bytes(from, count * width);
  Numbers numbers;
  for (std::size_t i = 0; i + width <= bytes.size(); i += width) {
    numbers.push_back(width == 1   ? bytes[i]
                      : width == 4 ? at<std::int32_t>(bytes.data(), i)
                                   : at<std::int64_t>(bytes.data(), i));
  }
  return numbers;
}

/// How wide the numbers of the two sides and of the result are: of a kernel that converts, the last
/// two arguments are {types of a byte each, widths}. Nothing: it converts what is no whole number.
std::optional<std::array<std::size_t, 3>> widths_of(const char* name, void** arguments) {
  std::array<std::size_t, 3> widths{8, 8, 8};
  if (!has(name, "LoadWithCast")) return widths;
  constexpr std::size_t kWidths = 4;  // behind the types
  for (std::size_t side = 0; side < 2; ++side) {
    widths[side] = at<std::uint32_t>(arguments[5], kWidths + side * sizeof(std::uint32_t));
    if (widths[side] != 1 && widths[side] != 4 && widths[side] != 8) return std::nullopt;
  }
  if (at<std::uint32_t>(arguments[6], kWidths) != 8) return std::nullopt;
  return widths;
}

void run_and(const char* name, void** arguments, KnownBytes& known) {
  const Elementwise launch(arguments);
  const auto widths = widths_of(name, arguments);
  if (!widths) return known.forget(launch.pointer(0), launch.count * sizeof(std::int64_t));
  Inputs inputs(known);
  const Numbers result = joined(numbers_at(inputs, launch.pointer(1), launch.count, (*widths)[0]),
                                numbers_at(inputs, launch.pointer(2), launch.count, (*widths)[1]),
                                /*decided=*/0, [](auto a, auto b) { return a & b; });
  put(known, launch.pointer(0),
      {result.data(), launch.count * sizeof(std::int64_t), !result.empty()}, inputs);
}

/// The numbers are 0 or 1.
void put_bools(const Elementwise& launch, const Numbers& numbers, const Inputs& inputs,
               KnownBytes& known) {
  const Bytes bytes(numbers.begin(), numbers.end());
  put(known, launch.pointer(0), {bytes.data(), launch.count, !bytes.empty()}, inputs);
}

}  // namespace

bool is_logic(const char* name) {
  return is_or(name) || is_not(name) || is_and(name) || is_product(name);
}

void run_logic(const char* name, void** arguments, KnownBytes& known) {
  if (is_and(name)) return run_and(name, arguments, known);
  const Elementwise launch(arguments);
  Inputs inputs(known);
  Numbers one = numbers_at(inputs, launch.pointer(1), launch.count, sizeof(bool));
  if (is_not(name)) {
    for (auto& each : one) each = each == 0 ? 1 : 0;
    return put_bools(launch, one, inputs, known);
  }
  const Numbers other = numbers_at(inputs, launch.pointer(2), launch.count, sizeof(bool));
  const auto result = is_or(name)
                          ? joined(one, other, /*decided=*/1, [](auto a, auto b) { return a | b; })
                          : joined(one, other, /*decided=*/0, [](auto a, auto b) { return a & b; });
  put_bools(launch, result, inputs, known);
}

}  // namespace headroom::dry_run
