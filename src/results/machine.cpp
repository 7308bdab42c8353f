// SPDX-License-Identifier: Apache-2.0
#include "src/results/machine.h"

#include <algorithm>
#include <array>
#include <optional>

#include "src/core/checksum.h"
#include "src/results/columns.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

struct VariedPart {
  std::string_view path;  // in an environment, or a column
  Varied varied;
};
constexpr VariedPart kVariedParts[] = {
    {"libtorch", Varied::libtorch},
    {"variables.LD_LIBRARY_PATH", Varied::libtorch},
    {column::cuda, Varied::libtorch},
    {column::driver, Varied::driver},
};

/// Whether a part of a machine may vary.
bool may(const std::vector<Varied>& may_vary, std::string_view path) {
  const auto part = std::ranges::find(kVariedParts, path, &VariedPart::path);
  return part != std::end(kVariedParts) &&
         std::ranges::find(may_vary, part->varied) != may_vary.end();
}

/// Takes a member out, or one of a member. Whatever else somebody's journal has there stays.
void erase(Json& document, std::string_view path) {
  const std::size_t dot = path.find('.');
  if (!document.is_object()) return;
  if (dot == std::string_view::npos) {
    document.erase(path);
  } else if (document.contains(path.substr(0, dot))) {
    erase(document[path.substr(0, dot)], path.substr(dot + 1));
  }
}

/// The environment of the runner, without the variable that chooses among a machine's GPUs.
Json environment_of_machine(const CaseResult& run) {
  Json environment = run.environment;
  erase(environment, "variables.CUDA_VISIBLE_DEVICES");
  return environment;
}

/// What a case's worker says of the machine; one that crashed says nothing.
Json devices_of(const CaseResult& run) {
  Json devices = Json::object();
  for (const std::string_view column : {column::device_name, column::cuda, column::driver}) {
    if (run.row.contains(column)) devices[column] = run.row[column];
  }
  return devices;
}

}  // namespace

MachineDifferences machine_differences(const CaseResult& old_run, const CaseResult& new_run,
                                       std::string_view kind, const std::vector<Varied>& may_vary) {
  MachineDifferences result;
  if (kind == "planned") {
    const Json old_gpu = member(old_run.environment, "gpu");
    const Json new_gpu = member(new_run.environment, "gpu");
    for (const JsonDifference& one : differences({{"gpu", old_gpu}}, {{"gpu", new_gpu}})) {
      result.others.push_back(one.text());
    }
    return result;
  }
  std::vector<JsonDifference> all =
      differences(environment_of_machine(old_run), environment_of_machine(new_run));
  for (JsonDifference& one : differences(devices_of(old_run), devices_of(new_run))) {
    if (one.is_in_both) all.push_back(std::move(one));
  }
  for (const JsonDifference& one : all) {
    (may(may_vary, one.path) ? result.varied : result.others).push_back(one.text());
  }
  return result;
}

std::string machine_of(const CaseResult& run, const std::vector<Varied>& may_vary) {
  Json environment = environment_of_machine(run);
  Json devices = devices_of(run);
  devices[column::device] = text_in(run.row, column::device);
  for (const VariedPart& part : kVariedParts) {
    if (!may(may_vary, part.path)) continue;
    erase(environment, part.path);
    erase(devices, part.path);
  }
  return fingerprint(environment.dump() + devices.dump());
}

}  // namespace headroom
