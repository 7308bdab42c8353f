// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "src/report/export.h"
#include "src/report/exported_case.h"
#include "src/results/statistics.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

Json metric_of(const std::vector<double>& values) {
  Json metric = {{"value", std::llround(median(values))}};
  if (values.size() > 1) {
    metric["lower_value"] = std::llround(std::ranges::min(values));
    metric["upper_value"] = std::llround(std::ranges::max(values));
  }
  return metric;
}

}  // namespace

std::string bencher_export(const std::vector<Results>& all) {
  Json benchmarks = Json::object();
  for (const Repeats& one : repeats_of(all)) {
    Json& not_ok = benchmarks[group_of(one)]["cases_not_ok"]["value"];
    not_ok = (not_ok.is_null() ? 0 : not_ok.get<int>()) + (is_ok(one) ? 0 : 1);
    for (const Figure& figure : kFigures) {
      const std::vector<double> values = one.values(figure.column);
      if (!values.empty()) benchmarks[path_of(one)][figure.column] = metric_of(values);
    }
  }
  return benchmarks.dump(2) + "\n";
}

}  // namespace headroom
