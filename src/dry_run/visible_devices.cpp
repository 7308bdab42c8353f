// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/visible_devices.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <numeric>

namespace headroom::dry_run {
namespace {

std::string_view without_spaces(std::string_view text) {
  constexpr std::string_view kSpaces = " \t";
  const std::size_t begin = std::min(text.find_first_not_of(kSpaces), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(kSpaces) + 1);
}

/// The number of the GPU that an entry names; nothing: there is none, or several.
std::optional<int> device_of(std::string_view entry, int machine) {
  int number = 0;
  const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), number);
  if (error == std::errc() && end == entry.data() + entry.size()) {
    return number >= 0 && number < machine ? std::optional(number) : std::nullopt;
  }
  constexpr std::string_view kPrefix = "GPU-";
  if (!entry.starts_with(kPrefix)) return std::nullopt;
  std::optional<int> found;
  for (int each = 0; each < machine; ++each) {
    if (!device_uuid_text(each).starts_with(entry)) continue;
    if (found) return std::nullopt;
    found = each;
  }
  return found;
}

}  // namespace

std::array<unsigned char, 16> device_uuid(int number) {
  std::array<unsigned char, 16> uuid{};
  uuid.back() = static_cast<unsigned char>(number);
  return uuid;
}

std::string device_uuid_text(int number) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "GPU-00000000-0000-0000-0000-%012x",
                static_cast<unsigned>(number));
  return text.data();
}

std::vector<int> visible_devices(int machine, std::optional<std::string_view> variable) {
  std::vector<int> list;
  if (!variable) {
    list.resize(static_cast<std::size_t>(machine));
    std::iota(list.begin(), list.end(), 0);
    return list;
  }
  for (std::string_view rest = *variable; !rest.empty();) {
    const std::size_t comma = rest.find(',');
    const auto device = device_of(without_spaces(rest.substr(0, comma)), machine);
    if (!device) break;
    if (std::find(list.begin(), list.end(), *device) != list.end()) return {};
    list.push_back(*device);
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
  }
  return list;
}

}  // namespace headroom::dry_run
