// SPDX-License-Identifier: Apache-2.0
#include "src/runner/plan.h"

#include <nlohmann/json.hpp>

#include "src/core/checksum.h"
#include "src/core/error.h"
#include "src/core/file.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;
constexpr std::size_t kMostBytesOfWorker = std::size_t{4} << 30;

/// What differs between the cases of two plans; empty: nothing.
std::string difference(const Json& old_cases, const Json& cases) {
  for (const auto& [name, fingerprint] : cases.items()) {
    const auto old = old_cases.find(name);
    if (old == old_cases.end()) return "it has no case " + name;
    if (*old != fingerprint) return "its case " + name + " has other settings";
  }
  for (const auto& [name, fingerprint] : old_cases.items()) {
    if (!cases.contains(name)) return "it has a case " + name;
  }
  return "";
}

}  // namespace

Json make_plan(const Suite& suite, const Catalog& catalog, const std::string& device,
               const std::string& worker) {
  Json cases = Json::object();
  for (const Case& one : suite.cases) cases[one.name] = one.fingerprint();
  return {{"format", kFormat},
          {"suite", suite.name},
          {"device", device},
          {"libtorch", catalog.libtorch},
          {"worker", fingerprint(read_file(worker, kMostBytesOfWorker))},
          {"cases", std::move(cases)}};
}

void check_same_plan(const Json& journal_plan, const Json& plan, const std::string& journal) {
  const auto refuse = [&](const std::string& why) {
    throw ResultsError(journal + ": these results can't be continued: " + why +
                       "; choose another folder with --out");
  };
  for (const char* key : {"format", "suite", "device", "libtorch", "worker"}) {
    const Json old = journal_plan.value(key, Json());
    if (old == plan[key]) continue;
    refuse(std::string(key) + " was " + old.dump() + " and is " + plan[key].dump());
  }
  const std::string cases = difference(journal_plan.value("cases", Json::object()), plan["cases"]);
  if (!cases.empty()) refuse(cases);
}

}  // namespace headroom
