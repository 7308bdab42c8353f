// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/ScalarType.h>

#include <algorithm>
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

/// Whether it is a whole number below 0. Of labels, lengths and places that nobody computed none
/// is: programs mark so what is to be left out.
inline bool holds_mark(const void* functor, c10::ScalarType type) {
  bool is_mark = false;
  with_type(type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) is_mark = held_number<T>(functor) < zero;
  });
  return is_mark;
}

}  // namespace headroom::dry_run
