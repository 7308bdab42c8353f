// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <type_traits>

namespace headroom::dry_run {

/// How many of so large parts it takes to hold the whole.
template <std::integral T>
constexpr T parts(T whole, std::type_identity_t<T> part) {
  return (whole + part - 1) / part;
}

/// What these hold: the whole, rounded up.
template <std::integral T>
constexpr T whole_parts(T whole, std::type_identity_t<T> part) {
  return parts(whole, part) * part;
}

}  // namespace headroom::dry_run
