// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace headroom::dry_run {

/// Hosts of different pace, each of which has the program run once: the one that the settings name,
/// which decides what memory the program takes, and those by which a step's time is told, since how
/// fast a program's host is, a plan can't know.
enum class Host { played, usual, slow };
inline constexpr std::size_t kHosts = 3;

/// A moment by the clock of each host, in nanoseconds.
using Moment = std::array<std::int64_t, kHosts>;

inline Moment later(const Moment& one, const Moment& other) {
  Moment result{};
  for (std::size_t i = 0; i < kHosts; ++i) result[i] = std::max(one[i], other[i]);
  return result;
}

inline std::int64_t by(Host host, const Moment& moment) {
  return moment[static_cast<std::size_t>(host)];
}

}  // namespace headroom::dry_run
