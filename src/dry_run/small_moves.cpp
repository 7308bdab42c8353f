// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_moves.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "src/dry_run/small_elements.h"
#include "src/dry_run/small_launch.h"
#include "src/dry_run/small_operands.h"

namespace headroom::dry_run {
namespace {

constexpr std::size_t kWidestJoined = 8;  // of what is joined

template <class T>
T sum_of(T one, T other) {
  if constexpr (std::is_same_v<T, bool>) {
    return one || other;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(one) + static_cast<std::uint64_t>(other));
  } else {
    return one + other;
  }
}

template <class T>
T product_of(T one, T other) {
  if constexpr (std::is_same_v<T, bool>) {
    return one && other;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(one) * static_cast<std::uint64_t>(other));
  } else {
    return one * other;
  }
}

/// What is no number wins.
template <class T>
T extreme_of(bool is_largest, T one, T other) {
  if (one != one) return one;
  if (other != other) return other;
  return (is_largest ? one < other : other < one) ? other : one;
}

template <class T>
T joined_value(Joining joining, T old, T taken) {
  switch (joining) {
    case Joining::put:
      break;
    case Joining::add:
      return sum_of(old, taken);
    case Joining::multiply:
      return product_of(old, taken);
    case Joining::smallest:
    case Joining::largest:
      return extreme_of(joining == Joining::largest, old, taken);
  }
  return taken;
}

/// Of one element, from what stands there and what is taken.
void join_element(const Moves& moves, const void* old, const void* taken, void* result) {
  with_type(moves.type, [&](auto zero) {
    using T = decltype(zero);
    T value = at<T>(taken);
    if (moves.factor != nullptr) value = product_of(value, at<T>(moves.factor));
    value = joined_value(moves.joining, at<T>(old), value);
    std::memcpy(result, &value, sizeof(value));
  });
}

/// The bytes from the first element that is written to the last one's end.
struct Span {
  std::size_t begin;
  std::size_t end;
};

Span span_of(const Moves& moves) {
  const auto [first, last] = std::ranges::minmax_element(moves.list, {}, &Move::to);
  return {first->to, last->to + moves.width};
}

void run_in(const Span& span, const Moves& moves, KnownBytes& known) {
  Elements taken(known, moves.from, moves.number != nullptr ? 0 : moves.from_reach);
  Elements old(known, moves.to + span.begin, span.end - span.begin);
  Writes writes(moves.to + span.begin, span.end - span.begin);
  for (const Move& move : moves.list) {
    const std::size_t place = move.to - span.begin;
    const auto* value = static_cast<const unsigned char*>(moves.number);
    if (value == nullptr && move.from) value = taken.at(*move.from, moves.width);
    if (value != nullptr && moves.joining == Joining::put) {
      writes.put(place, value, moves.width);
      continue;
    }
    const bool is_touched = writes.state(place) != Writes::State::untouched;
    const unsigned char* const before = is_touched ? writes.at(place) : old.at(place, moves.width);
    if (value == nullptr || before == nullptr || writes.state(place) == Writes::State::unknown) {
      writes.forget(place, moves.width);
      continue;
    }
    std::array<unsigned char, kWidestJoined> result{};
    join_element(moves, before, value, result.data());
    writes.put(place, result.data(), moves.width);
  }
  Trust trust = moves.trust;
  join(trust, taken.trust());
  join(trust, old.trust());
  writes.tell(known, trust);
}

}  // namespace

std::optional<Joining> joining_named(std::string_view name) {
  struct Named {
    std::string_view mangled;
    Joining joining;
  };
  constexpr std::array kAll{
      Named{"12TensorAssignE", Joining::put},       Named{"9ReduceAddE", Joining::add},
      Named{"10ReduceMeanE", Joining::add},         Named{"14ReduceMultiplyE", Joining::multiply},
      Named{"13ReduceMinimumE", Joining::smallest}, Named{"13ReduceMaximumE", Joining::largest},
      Named{"12ScatterAddOpE", Joining::add},       Named{"12ScatterMinOpE", Joining::smallest},
      Named{"12ScatterMaxOpE", Joining::largest},
  };
  const auto found =
      std::ranges::find_if(kAll, [&](const Named& one) { return has(name, one.mangled); });
  return found == kAll.end() ? std::nullopt : std::optional(found->joining);
}

void run_moves(const Moves& moves, KnownBytes& known) {
  if (moves.list.empty()) return;
  const Span span = span_of(moves);
  const bool is_taken = moves.number != nullptr || known.has_any(moves.from, moves.from_reach);
  const bool is_written_over = known.has_any(moves.to + span.begin, span.end - span.begin);
  if (span.end - span.begin > KnownBytes::max_bytes(moves.width) ||
      (!is_taken && !is_written_over)) {
    return known.forget(moves.to + span.begin, span.end - span.begin);
  }
  run_in(span, moves, known);
}

}  // namespace headroom::dry_run
