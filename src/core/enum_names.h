// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

// The names of an enumeration's values, as they are spelled in the code. Suite files and CSV use
// these very names, so that no list of strings has to be kept in step with an enumeration.
// Enumerators count from 0 without gaps.
namespace headroom {
namespace detail {

// The compiler prints `V = headroom::Attention::eager` for an enumerator and `V =
// (headroom::Attention)7` for a number that is none; GCC and Clang agree.
template <auto V>
constexpr std::string_view enumerator_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("V = ") + 4);
  text = text.substr(0, text.find_first_of(";]"));
  if (text.front() == '(') return {};
  return text.substr(text.rfind(':') + 1);
}

inline constexpr std::size_t kMaxEnumerators = 32;

template <class E, std::size_t... I>
constexpr auto all_names(std::index_sequence<I...>) {
  return std::array<std::string_view, sizeof...(I)>{enumerator_name<static_cast<E>(I)>()...};
}

template <class E>
inline constexpr auto kAllNames = all_names<E>(std::make_index_sequence<kMaxEnumerators>{});

template <class E>
constexpr std::size_t count_names() {
  std::size_t count = 0;
  while (count < kMaxEnumerators && !kAllNames<E>[count].empty()) ++count;
  return count;
}

}  // namespace detail

/// The names of all values of E, in order.
template <class E>
constexpr std::span<const std::string_view> enum_names() {
  return std::span(detail::kAllNames<E>).first(detail::count_names<E>());
}

/// The name of one value.
template <class E>
constexpr std::string_view enum_name(E value) {
  return detail::kAllNames<E>[static_cast<std::size_t>(value)];
}

}  // namespace headroom
