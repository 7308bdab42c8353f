// SPDX-License-Identifier: Apache-2.0
#include "src/programs/reserved_peak.h"

#include <algorithm>
#include <cstdint>

#include "src/core/checked_sum.h"
#include "src/core/json.h"
#include "src/programs/left_file.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

bool is_pool(const Json& json) {
  return is_object_of(json, {"stream", "bytes", "pieces", "largest_bytes"}, {"pool"});
}

bool is_neighbour(const Json& json) { return is_object_of(json, {"bytes", "blocks"}, {"line"}); }

bool is_reserved_peak(const Json& json) {
  const Json& free = member(json, "free");
  const Json& neighbours = member(json, "neighbours");
  if (!free.is_array() || !std::ranges::all_of(free, &is_pool)) return false;
  if (!neighbours.is_array() || !std::ranges::all_of(neighbours, &is_neighbour)) return false;
  Json rest = json;
  rest.erase("free");
  rest.erase("neighbours");
  if (!is_object_of(
          rest,
          {"reserved_bytes", "allocated_bytes", "waiting_bytes", "asked_bytes", "passed_over_bytes",
           "passed_over_pieces", "too_small_bytes", "too_small_pieces", "too_small_largest_bytes"},
          {"asked_at"})) {
    return false;
  }
  CheckedSum sum;
  for (const Json& pool : free) sum.add(1, pool["bytes"].get<std::int64_t>());
  sum.add(1, rest["allocated_bytes"].get<std::int64_t>());
  sum.add(1, rest["waiting_bytes"].get<std::int64_t>());
  return sum == rest["reserved_bytes"].get<std::int64_t>();
}

}  // namespace

void add_reserved_peaks(DryReports& reports, const std::filesystem::path& folder) {
  for (Json& report : reports.whole) {
    const Json peak = read_left(report, folder, ".reserved");
    if (!is_reserved_peak(peak)) continue;
    if (member(report, "peak_reserved_bytes") == peak.at("reserved_bytes")) {
      report["reserved_peak"] = peak;
    }
  }
}

}  // namespace headroom
