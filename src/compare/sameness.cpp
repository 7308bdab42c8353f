// SPDX-License-Identifier: Apache-2.0
#include "src/compare/sameness.h"

#include "src/core/json_difference.h"
#include "src/suite/case.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

/// What a case's worker says of the machine.
Json devices_of(const CaseResult& run) {
  Json devices = Json::object();
  for (const char* column : {"device_name", "gpu_uuid", "cuda", "driver"}) {
    if (run.row.contains(column)) devices[column] = run.row[column];
  }
  return devices;
}

/// The techniques by name, so that an option that only one of two versions knows is told from
/// another value.
Json comparable(Json work) {
  Json techniques = Json::object();
  for (const Json& technique : work["techniques"]) {
    techniques[technique.at("name").get<std::string>()] = technique;
  }
  work["stack"] = technique_names(work["techniques"]);
  work["techniques"] = techniques;
  return work;
}

}  // namespace

std::vector<std::string> machine_differences(const Repeats& old_case, const Repeats& new_case) {
  std::vector<std::string> list;
  if (old_case.device != new_case.device) {
    list.push_back(JsonDifference{"device", old_case.device, new_case.device}.text());
  }
  if (old_case.kind == "planned" || old_case.runs.empty() || new_case.runs.empty()) return list;
  const CaseResult& old_run = *old_case.runs.front();
  const CaseResult& new_run = *new_case.runs.front();
  for (const JsonDifference& difference : differences(old_run.environment, new_run.environment)) {
    list.push_back(difference.text());
  }
  for (const JsonDifference& difference : differences(devices_of(old_run), devices_of(new_run))) {
    if (difference.is_in_both) list.push_back(difference.text());  // a crashed worker says nothing
  }
  return list;
}

std::vector<std::string> work_differences(const Repeats& old_case, const Repeats& new_case) {
  std::vector<std::string> list;
  if (old_case.kind != new_case.kind) {
    list.push_back(JsonDifference{"kind", old_case.kind, new_case.kind}.text());
  }
  if (old_case.runs.empty() || new_case.runs.empty()) return list;
  const Json old_work = comparable(old_case.runs.front()->work);
  const Json new_work = comparable(new_case.runs.front()->work);
  for (const JsonDifference& difference : differences(old_work, new_work)) {
    if (difference.is_in_both) list.push_back(difference.text());
  }
  return list;
}

}  // namespace headroom
