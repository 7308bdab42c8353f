// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/ScalarType.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "src/dry_run/small_launch.h"
#include "src/dry_run/small_operands.h"

// What the functors of == and != hold: {0: ==, 1: !=} of two tensors, or {the same, number} of a
// tensor and a number.
namespace headroom::dry_run {

inline bool asks_for_others(const void* functor) { return at<int>(functor) == 1; }

template <class T>
T held_number(const void* functor) {
  return at<T>(functor, std::max(sizeof(T), sizeof(int)));
}

/// A whole number; nothing: it is of another type.
inline std::optional<std::int64_t> held_whole_number(const void* functor, c10::ScalarType type) {
  std::optional<std::int64_t> number;
  with_type(type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      number = static_cast<std::int64_t>(held_number<T>(functor));
    }
  });
  return number;
}

/// Whether tokens, labels, lengths and places that nobody computed are taken for other numbers than
/// this one. So they are, also for those below 0 that mark what is left out; but what is compared
/// with 0 or 1 may be flags.
inline bool is_none_of_them(std::int64_t number) { return number < 0 || number > 1; }

}  // namespace headroom::dry_run
