// SPDX-License-Identifier: Apache-2.0
#include "src/programs/left_file.h"

#include <algorithm>
#include <cstdint>

#include "src/core/error.h"
#include "src/core/file.h"
#include "src/core/json.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostBytes = 16 << 20;

}  // namespace

Json read_left(const Json& report, const std::filesystem::path& folder, const std::string& ending) {
  const auto number = [&](const char* name) {
    return std::to_string(report.at(name).get<std::int64_t>());
  };
  const std::filesystem::path file = folder / (number("process") + "." + number("device") + ending);
  try {
    return read_json(read_file(file.string(), kMostBytes), {.bytes = kMostBytes});
  } catch (const ConfigError&) {
    return {};
  } catch (const JsonError&) {
    return {};
  }
}

bool is_object_of(const Json& json, std::initializer_list<const char*> numbers,
                  std::initializer_list<const char*> texts) {
  const auto is_number = [&](const char* name) {
    const Json& value = member(json, name);
    return value.is_number_unsigned() && value.get<std::uint64_t>() <= INT64_MAX;
  };
  const auto is_text = [&](const char* name) { return member(json, name).is_string(); };
  return json.is_object() && json.size() == numbers.size() + texts.size() &&
         std::ranges::all_of(numbers, is_number) && std::ranges::all_of(texts, is_text);
}

}  // namespace headroom
