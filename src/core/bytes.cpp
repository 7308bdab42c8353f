// SPDX-License-Identifier: Apache-2.0
#include "src/core/bytes.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace headroom {
namespace {

struct Unit {
  double bytes;
  std::string_view name;
};

constexpr std::array kUnits{Unit{1024.0 * 1024 * 1024, " GiB"}, Unit{1024.0 * 1024, " MiB"},
                            Unit{1024.0, " KiB"}};

}  // namespace

std::string format_bytes(std::int64_t bytes) {
  const auto amount = static_cast<double>(bytes);
  for (const Unit& unit : kUnits) {
    if (std::abs(amount) < unit.bytes) continue;
    std::array<char, 32> buffer;
    const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(),
                                      amount / unit.bytes, std::chars_format::fixed, 2);
    return std::string(buffer.data(), result.ptr).append(unit.name);
  }
  return std::to_string(bytes) + " bytes";
}

std::optional<std::int64_t> parse_bytes(std::string_view text) {
  double amount = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount);
  if (error != std::errc()) return std::nullopt;
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  double factor = unit.empty() ? 1 : 0;
  for (const Unit& known : kUnits) {
    if (unit == known.name.substr(1)) factor = known.bytes;
  }
  const double bytes = std::round(amount * factor);
  if (factor == 0 || !(bytes >= 0 && bytes <= 0x1p62)) return std::nullopt;
  return static_cast<std::int64_t>(bytes);
}

}  // namespace headroom
