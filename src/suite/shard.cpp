// SPDX-License-Identifier: Apache-2.0
#include "src/suite/shard.h"

#include <charconv>

#include "src/core/checksum.h"
#include "src/core/error.h"

namespace headroom {
namespace {

constexpr std::uint32_t kMostShards = 10'000;

/// 0: it is no number that a shard can have.
std::uint32_t number_of(std::string_view text) {
  std::uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc() && read.ptr == end && number <= kMostShards ? number : 0;
}

}  // namespace

bool Shard::holds(std::string_view case_name) const {
  return crc32(case_name) % count == number - 1;
}

Shard parse_shard(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash != std::string::npos) {
    const Shard shard{number_of(text.substr(0, slash)), number_of(text.substr(slash + 1))};
    if (shard.number >= 1 && shard.number <= shard.count) return shard;
  }
  throw ConfigError("--shard: '" + text + "' is no part of a suite; 2/8 is the second of eight, " +
                    "of at most " + std::to_string(kMostShards));
}

}  // namespace headroom
