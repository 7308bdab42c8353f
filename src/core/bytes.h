// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headroom {

/// An amount of memory. A type of its own where bytes could be taken for elements.
struct Bytes {
  std::int64_t count = 0;

  friend auto operator<=>(const Bytes&, const Bytes&) = default;
  friend Bytes operator+(Bytes a, Bytes b) { return {a.count + b.count}; }
  friend Bytes operator-(Bytes a, Bytes b) { return {a.count - b.count}; }
};

/// For people: "512 bytes", "1.50 KiB", "24.95 GiB". GiB is the largest unit.
std::string format_bytes(std::int64_t bytes);

/// "16GiB", "0.5 MiB", "4096": the nearest whole number of bytes; nothing where it is no such text
/// or more than 2^62.
std::optional<std::int64_t> parse_bytes(std::string_view text);

}  // namespace headroom
