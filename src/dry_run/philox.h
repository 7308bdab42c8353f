// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

// The generator of random numbers that PyTorch and cuRAND use on a GPU: Philox with four words of
// 32 bits and ten rounds (Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, 2011).
namespace headroom::dry_run {

using PhiloxWords = std::array<std::uint32_t, 4>;

inline PhiloxWords philox(PhiloxWords counter, std::uint64_t seed) {
  constexpr std::array<std::uint64_t, 2> kFactors{0xD2511F53, 0xCD9E8D57};
  constexpr std::array<std::uint32_t, 2> kSteps{0x9E3779B9, 0xBB67AE85};
  std::array key{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t one = kFactors[0] * counter[0];
    const std::uint64_t other = kFactors[1] * counter[2];
    counter = {static_cast<std::uint32_t>(other >> 32U) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(other),
               static_cast<std::uint32_t>(one >> 32U) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(one)};
    for (std::size_t i = 0; i < key.size(); ++i) key[i] += kSteps[i];
  }
  return counter;
}

/// What thread `thread` gets at its call number `call`, of four words each.
inline PhiloxWords philox_call(std::uint64_t seed, std::uint64_t thread, std::uint64_t call) {
  return philox({static_cast<std::uint32_t>(call), static_cast<std::uint32_t>(call >> 32U),
                 static_cast<std::uint32_t>(thread), static_cast<std::uint32_t>(thread >> 32U)},
                seed);
}

}  // namespace headroom::dry_run
