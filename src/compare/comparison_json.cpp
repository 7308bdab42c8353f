// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <nlohmann/json.hpp>

#include "src/compare/comparison_format.h"
#include "src/core/enum_names.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

/// Bytes and counts as the integers that they are.
Json number(double value) {
  constexpr double kExact = 9007199254740992;  // 2^53
  if (std::nearbyint(value) == value && std::abs(value) < kExact) {
    return static_cast<std::int64_t>(value);
  }
  return value;
}

Json figure_json(const FigureChange& change) {
  Json json{{"column", change.column},
            {"trend", enum_name(change.trend)},
            {"old", number(change.old_value)},
            {"new", number(change.new_value)}};
  if (change.ratio) json["ratio"] = *change.ratio;
  if (change.interval && !std::isinf(change.interval->upper)) {
    json["ratio_interval"] = {change.interval->lower, change.interval->upper};
  }
  if (!change.note.empty()) json["note"] = change.note;
  return json;
}

Json growth_json(const Growth& growth) {
  return {{"category", growth.category},  {"phase", growth.phase},        {"blocks", growth.blocks},
          {"operator", growth.op},        {"tensor_bytes", growth.bytes}, {"count", growth.count},
          {"bytes", growth.total_bytes()}};
}

Json case_json(const CaseChange& one) {
  Json json{{"suite", one.suite},
            {"case", one.name},
            {"trend", enum_name(one.trend)},
            {"old_status", one.old_status},
            {"new_status", one.new_status},
            {"reason", one.reason},
            {"work_differences", one.work_differences}};
  json["figures"] = Json::array();
  for (const FigureChange& figure : one.figures) json["figures"].push_back(figure_json(figure));
  json["old_place"] = one.old_place;
  json["new_place"] = one.new_place;
  json["growth"] = Json::array();
  for (const Growth& growth : one.growth) json["growth"].push_back(growth_json(growth));
  return json;
}

}  // namespace

std::string comparison_json(const Comparison& comparison) {
  Json json{{"trend", enum_name(comparison.trend())},
            {"machine_differences", comparison.machine_differences},
            {"cases", Json::array()}};
  for (const CaseChange& one : comparison.cases) json["cases"].push_back(case_json(one));
  return json.dump(2) + "\n";
}

}  // namespace headroom
