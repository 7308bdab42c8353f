// SPDX-License-Identifier: Apache-2.0
#include "src/runner/extremes.h"

#include <algorithm>
#include <cstdlib>

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

bool is_large(const Json& report, const char* bytes) {
  const auto most = report.at(bytes).get<std::int64_t>();
  return most > 0 && 100 * most >= report.at("peak_device_bytes").get<std::int64_t>();
}

}  // namespace

bool depends_on_host(const Json& report) { return report.at("undecided_questions") != 0; }

bool depends_on_layouts(const Json& report) { return is_large(report, "layout_copies_bytes"); }

bool depends_on_engines(const Json& report) { return is_large(report, "tried_engines_bytes"); }

std::vector<DryRun> extremes_of(const DryRun& estimated, const std::vector<Json>& reports) {
  std::vector<DryRun> extremes;
  const auto add = [&](auto DryRun::*setting, auto value) {
    extremes.push_back(estimated);
    extremes.back().*setting = value;
  };
  const auto is_open = [&](bool (*depends)(const Json&), const char* variable) {
    return std::getenv(variable) == nullptr && std::ranges::any_of(reports, depends);
  };
  if (is_open(&depends_on_host, DryRun::kHost)) {
    add(&DryRun::host, DryRun::Host::slow);
    add(&DryRun::host, DryRun::Host::ahead);
  }
  if (is_open(&depends_on_layouts, DryRun::kLayoutCopies)) {
    add(&DryRun::layout_copies, DryRun::LayoutCopies::forward);
    add(&DryRun::layout_copies, DryRun::LayoutCopies::backward);
  }
  if (is_open(&depends_on_engines, DryRun::kTriedEngines)) {
    add(&DryRun::tried_engines, DryRun::TriedEngines::fastest);
  }
  return extremes;
}

}  // namespace headroom
