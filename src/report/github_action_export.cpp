// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "src/report/export.h"
#include "src/report/exported_case.h"
#include "src/results/statistics.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

void add_figures(Json& entries, const Repeats& one) {
  for (const Figure& figure : kFigures) {
    const std::vector<double> values = one.values(figure.column);
    if (values.empty()) continue;
    Json entry = {{"name", path_of(one) + "/" + figure.column},
                  {"unit", figure.unit},
                  {"value", std::llround(median(values))}};
    if (values.size() > 1) {
      entry["range"] = fmt::format("± {}", std::llround(median_deviation(values)));
      entry["extra"] = fmt::format("median of {} processes", values.size());
    }
    entries.push_back(std::move(entry));
  }
}

}  // namespace

std::string github_action_export(const std::vector<Results>& all) {
  Json entries = Json::array();
  nlohmann::ordered_map<std::string, std::vector<std::string>> not_ok;
  for (const Repeats& one : repeats_of(all)) {
    add_figures(entries, one);
    std::vector<std::string>& endings = not_ok[group_of(one)];
    if (!is_ok(one)) endings.push_back(one.name + ": " + ending_of(one));
  }
  for (const auto& [group, endings] : not_ok) {
    entries.push_back({{"name", group + "/cases_not_ok"},
                       {"unit", "cases"},
                       {"value", endings.size()},
                       {"extra", fmt::format("{}", fmt::join(endings, "\n"))}});
  }
  return entries.dump(2) + "\n";
}

}  // namespace headroom
