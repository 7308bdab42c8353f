// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headroom {

/// One of `count` parts of a suite's cases, as different machines take them: `--shard 2/8`.
struct Shard {
  std::uint32_t number = 1;  // from 1
  std::uint32_t count = 1;

  /// Whether the case is in it. By a hash of the case's name alone, so that a case stays where it
  /// is when others are added: parts are about as large as one another, and not just as large.
  bool holds(std::string_view case_name) const;
};

/// Reads "2/8". Throws ConfigError where it is not of that form, or not one of so many.
Shard parse_shard(const std::string& text);

}  // namespace headroom
