// SPDX-License-Identifier: Apache-2.0
#include "src/runner/journal_header.h"

#include <nlohmann/json.hpp>

#include "src/core/checksum.h"
#include "src/core/error.h"
#include "src/core/file.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;
constexpr std::size_t kMostBytesOfWorker = std::size_t{4} << 30;

/// What differs between the cases of two headers; empty: nothing.
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

Json make_header(const Suite& suite, const Catalog& catalog, const std::string& kind,
                 const std::string& device, const std::string& worker) {
  Json cases = Json::object();
  for (const Case& one : suite.cases) cases[one.name] = one.fingerprint();
  return {{"format", kFormat},
          {"suite", suite.name},
          {"kind", kind},
          {"device", device},
          {"libtorch", catalog.libtorch},
          {"worker", fingerprint(read_file(worker, kMostBytesOfWorker))},
          {"cases", std::move(cases)}};
}

void check_same_header(const Json& found, const Json& header, const std::string& journal) {
  const auto refuse = [&](const std::string& why) {
    throw ResultsError(journal + ": these results can't be continued: " + why +
                       "; choose another folder with --out");
  };
  for (const char* key : {"format", "suite", "kind", "device", "libtorch", "worker"}) {
    const Json old = found.value(key, Json());
    if (old == header[key]) continue;
    refuse(std::string(key) + " was " + old.dump() + " and is " + header[key].dump());
  }
  const std::string cases = difference(found.value("cases", Json::object()), header["cases"]);
  if (!cases.empty()) refuse(cases);
}

}  // namespace headroom
