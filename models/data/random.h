// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace headroom {

/// 64 well mixed bits out of a seed and a counter (SplitMix64,
/// https://prng.di.unimi.it/splitmix64.c): no state, so that any thread draws the same for the same
/// counter, on every machine.
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t counter);

/// The numbers 0 .. size - 1 in an order that the seed alone decides.
std::vector<std::int64_t> shuffled(std::int64_t size, std::uint64_t seed);

}  // namespace headroom
