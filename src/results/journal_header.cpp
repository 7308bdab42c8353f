// SPDX-License-Identifier: Apache-2.0
#include "src/results/journal_header.h"

#include <array>
#include <nlohmann/json.hpp>

#include "src/core/checksum.h"
#include "src/core/error.h"
#include "src/core/file.h"
#include "src/core/json_difference.h"
#include "src/core/place.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 2;
constexpr std::size_t kMostBytesOfWorker = std::size_t{4} << 30;
constexpr std::array<const char*, 5> kTexts = {"suite", "kind", "device", "libtorch", "worker"};

/// What differs between the cases of two headers; empty: nothing.
std::string difference(const Json& old_cases, const Json& cases) {
  for (const auto& [name, work] : cases.items()) {
    if (!old_cases.contains(name)) return "it has no case " + name;
    const auto list = differences(old_cases[name], work);
    if (!list.empty()) return "of its case " + name + ", " + list.front().text();
  }
  for (const auto& [name, work] : old_cases.items()) {
    if (!cases.contains(name)) return "it has a case " + name;
  }
  return "";
}

bool is_whole(const Json& header) {
  for (const char* key : kTexts) {
    if (!header.contains(key) || !header[key].is_string()) return false;
  }
  return header.contains("cases") && header["cases"].is_object();
}

}  // namespace

Json make_header(const Suite& suite, const Catalog& catalog, const std::string& kind,
                 const std::string& device, const std::string& worker) {
  Json cases = Json::object();
  for (const Case& one : suite.cases) cases[one.name] = one.work();
  return {{"format", kFormat},
          {"suite", suite.name},
          {"kind", kind},
          {"device", device},
          {"libtorch", catalog.libtorch},
          {"worker", fingerprint(read_file(worker, kMostBytesOfWorker))},
          {"cases", std::move(cases)}};
}

void check_header(const Json& header, const std::string& journal) {
  const std::string where = Place{journal, 1, 1}.text();
  if (!header.is_object()) throw ResultsError(where + ": this is no header of a journal");
  const Json format = header.value("format", Json());
  if (format != kFormat) {
    throw ResultsError(where + ": these results have the format " + format.dump() +
                       ", this headroom reads the format " + std::to_string(kFormat));
  }
  if (!is_whole(header)) throw ResultsError(where + ": this is no header of a journal");
}

std::string header_difference(const Json& old_header, const Json& new_header) {
  for (const char* key : kTexts) {
    if (old_header[key] == new_header[key]) continue;
    return JsonDifference{key, old_header[key], new_header[key]}.text();
  }
  return difference(old_header["cases"], new_header["cases"]);
}

}  // namespace headroom
