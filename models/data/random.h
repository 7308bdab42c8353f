// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace headroom {

inline std::uint64_t mix_bits(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// 64 well mixed bits out of a seed and a counter (SplitMix64,
/// https://prng.di.unimi.it/splitmix64.c): no state, so that any thread draws the same for the same
/// counter, on every machine.
inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t counter) {
  // The seed is mixed as well: seeds that follow one another must not share a sequence.
  return mix_bits(mix_bits(seed) + (counter + 1) * 0x9e3779b97f4a7c15);
}

/// The numbers 0 .. size - 1 in an order that the seed alone decides.
inline std::vector<std::int64_t> shuffled(std::int64_t size, std::uint64_t seed) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  // Fisher-Yates. std::shuffle would give another order with another standard library.
  for (std::uint64_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[random_bits(seed, i) % i]);
  }
  return order;
}

}  // namespace headroom
