// SPDX-License-Identifier: Apache-2.0
#include "src/programs/peak_holders.h"

#include <cstdint>
#include <optional>
#include <string>

#include "src/core/error.h"
#include "src/core/file.h"
#include "src/core/json.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostBytes = 16 << 20;  // of a file

/// The sum of bytes; nothing: it is no list of holders.
std::optional<std::int64_t> sum_of(const Json& holders) {
  if (!holders.is_array()) return std::nullopt;
  std::int64_t sum = 0;
  for (const Json& holder : holders) {
    const Json& bytes = member(holder, "bytes");
    const Json& blocks = member(holder, "blocks");
    const bool is_one = holder.is_object() && holder.size() == 4 &&
                        member(holder, "kind").is_string() && member(holder, "line").is_string() &&
                        bytes.is_number_integer() && blocks.is_number_integer();
    if (!is_one || bytes.get<std::int64_t>() <= 0 || blocks.get<std::int64_t>() <= 0 ||
        __builtin_add_overflow(sum, bytes.get<std::int64_t>(), &sum)) {
      return std::nullopt;
    }
  }
  return sum;
}

/// Null: there is none that can be read.
Json read_holders(const std::filesystem::path& file) {
  try {
    return read_json(read_file(file.string(), kMostBytes), {.bytes = kMostBytes});
  } catch (const ConfigError&) {
    return {};
  } catch (const JsonError&) {
    return {};
  }
}

}  // namespace

void add_holders(DryReports& reports, const std::filesystem::path& folder) {
  for (Json& report : reports.whole) {
    const std::string name = std::to_string(report.at("process").get<std::int64_t>()) + "." +
                             std::to_string(report.at("device").get<std::int64_t>()) + ".holders";
    Json holders = read_holders(folder / name);
    const auto sum = sum_of(holders);
    if (sum && member(report, "peak_allocated_bytes") == *sum) report["holders"] = holders;
  }
}

}  // namespace headroom
