// SPDX-License-Identifier: Apache-2.0
#include "src/programs/peak_holders.h"

#include <cstdint>
#include <optional>
#include <string>

#include "src/core/json.h"
#include "src/programs/left_file.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

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

}  // namespace

void add_holders(DryReports& reports, const std::filesystem::path& folder) {
  for (Json& report : reports.whole) {
    const Json holders = read_left(report, folder, ".holders");
    const auto sum = sum_of(holders);
    if (sum && member(report, "peak_allocated_bytes") == *sum) report["holders"] = holders;
  }
}

}  // namespace headroom
