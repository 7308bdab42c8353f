// SPDX-License-Identifier: Apache-2.0
#include "src/programs/step_memory.h"

#include <algorithm>
#include <cstdint>

#include "src/core/json.h"
#include "src/programs/left_file.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostPlaces = 1000;

bool is_place(const Json& json) {
  return json.is_array() && json.size() == 3 && json[0].is_string() && json[1].is_null() &&
         json[2].is_number_unsigned() && json[2].get<std::uint64_t>() <= INT64_MAX;
}

/// The most bytes of the step; -1: it is none.
std::int64_t peak_of(const Json& step) {
  if (!step.is_array() || step.size() > kMostPlaces || !std::ranges::all_of(step, &is_place)) {
    return -1;
  }
  std::int64_t peak = -1;
  for (const Json& place : step) peak = std::max(peak, place[2].get<std::int64_t>());
  return peak;
}

}  // namespace

void add_step_memory(DryReports& reports, const std::filesystem::path& folder) {
  for (Json& report : reports.whole) {
    Json step = read_left(report, folder, ".course");
    if (member(report, "peak_allocated_bytes") == peak_of(step)) {
      report["step_memory"] = std::move(step);
    }
  }
}

}  // namespace headroom
