// SPDX-License-Identifier: Apache-2.0
#include "src/core/bytes.h"

#include <array>
#include <charconv>
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

}  // namespace headroom
