// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/reduction.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace headroom::dry_run {
namespace {

using Bytes = std::vector<unsigned char>;

template <class T>
T add(T one, T other) {
  if constexpr (std::is_integral_v<T>) {  // as on a GPU, it wraps around
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Unsigned>(one) + static_cast<Unsigned>(other));
  } else {
    return one + other;
  }
}

template <class T>
T multiply(T one, T other) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(one) * static_cast<std::uint64_t>(other));
  } else {
    return one * other;
  }
}

template <class T>
T combine(T one, T other, Reduction reduction) {
  switch (reduction) {
    case Reduction::sum:
    case Reduction::average:
      return add(one, other);
    case Reduction::product:
      return multiply(one, other);
    case Reduction::max:
      return std::max(one, other);
    case Reduction::min:
      return std::min(one, other);
  }
  return one;
}

template <class T>
Bytes reduce_as(const std::vector<PartlyKnown>& sent, Reduction reduction) {
  Bytes result = sent.front().bytes;
  for (std::size_t at = 0; at + sizeof(T) <= result.size(); at += sizeof(T)) {
    T value{};
    std::memcpy(&value, result.data() + at, sizeof(T));
    for (std::size_t rank = 1; rank < sent.size(); ++rank) {
      T other{};
      std::memcpy(&other, sent[rank].bytes.data() + at, sizeof(T));
      value = combine(value, other, reduction);
    }
    if (reduction == Reduction::average)
      value = static_cast<T>(value / static_cast<T>(sent.size()));
    std::memcpy(result.data() + at, &value, sizeof(T));
  }
  return result;
}

Bytes reduce_numbers(const std::vector<PartlyKnown>& sent, Reduction reduction, Number number) {
  switch (number) {
    case Number::int8:
      return reduce_as<std::int8_t>(sent, reduction);
    case Number::uint8:
      return reduce_as<std::uint8_t>(sent, reduction);
    case Number::int32:
      return reduce_as<std::int32_t>(sent, reduction);
    case Number::uint32:
      return reduce_as<std::uint32_t>(sent, reduction);
    case Number::int64:
      return reduce_as<std::int64_t>(sent, reduction);
    case Number::uint64:
      return reduce_as<std::uint64_t>(sent, reduction);
    case Number::float32:
      return reduce_as<float>(sent, reduction);
    case Number::float64:
      return reduce_as<double>(sent, reduction);
    case Number::other:
      break;
  }
  return {};
}

/// What one of the ranks does not know.
std::vector<bool> gaps_of(const std::vector<PartlyKnown>& sent) {
  std::vector<bool> gaps;
  for (const PartlyKnown& each : sent) {
    gaps.resize(std::max(gaps.size(), each.gaps.size()));
    for (std::size_t at = 0; at < each.gaps.size(); ++at) gaps[at] = gaps[at] || each.gaps[at];
  }
  return gaps;
}

}  // namespace

PartlyKnown reduce(const std::vector<PartlyKnown>& sent, Reduction reduction, Number number) {
  const PartlyKnown& first = sent.front();
  const auto has_size = [&](const PartlyKnown& each) {
    return each.bytes.size() == first.bytes.size();
  };
  if (!std::all_of(sent.begin(), sent.end(), has_size)) return {};
  const auto is_same = [&](const PartlyKnown& each) {
    return each.bytes == first.bytes && each.gaps == first.gaps;
  };
  const bool keeps =
      sent.size() == 1 || (reduction != Reduction::sum && reduction != Reduction::product);
  if (keeps && std::all_of(sent.begin(), sent.end(), is_same)) return first;
  return {reduce_numbers(sent, reduction, number), gaps_of(sent)};
}

}  // namespace headroom::dry_run
