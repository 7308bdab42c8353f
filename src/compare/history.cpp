// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "src/compare/night.h"
#include "src/core/enum_names.h"
#include "src/core/error.h"
#include "src/core/file.h"
#include "src/core/json.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;
constexpr const char* kWhat = "nights of headroom";
constexpr std::string_view kDatabase = "SQLite format 3";

/// Refuses what earlier versions wrote, which no line of JSON is.
const std::string& check_is_no_database(const std::string& path) {
  std::string start;
  try {
    start = read_file_start(path, kDatabase.size()).bytes;
  } catch (const ConfigError&) {  // it is not there yet, or the journal says why not
  }
  if (start != kDatabase) return path;
  throw ResultsError(path +
                     ": an earlier headroom wrote this history, as a database; a new one is "
                     "JSON Lines: name another file, in which nights begin anew");
}

Json json_of(const NightlyCase& one) {
  Json json{{"suite", one.suite},
            {"case", one.name},
            {"machine", one.machine},
            {"light", enum_name(one.light)}};
  if (one.ratio) json["ratio"] = *one.ratio;
  json["reason"] = one.reason;
  return json;
}

std::string text(const Json& night, std::string_view key) {
  const Json& value = member(night, key);
  return value.is_string() ? value.get<std::string>() : "";
}

bool is_night(const Json& record) {
  return member(record, "journals").is_string() && member(record, "cases").is_array();
}

/// A night as its last line has it.
struct KeptNight {
  std::string first_judged_at;
  const Json* record = nullptr;
};

/// In the order in which they were first judged; those of one time as they stand.
std::vector<KeptNight> nights_in(const std::vector<Json>& records) {
  std::vector<KeptNight> nights;
  std::map<std::string, std::size_t> places;  // by journals
  for (const Json& record : records) {
    if (!is_night(record)) continue;
    const auto [place, is_new] = places.emplace(text(record, "journals"), nights.size());
    const std::string judged_at = text(record, "judged_at");
    if (is_new) nights.push_back({.first_judged_at = judged_at});
    KeptNight& night = nights[place->second];
    night.first_judged_at = std::min(night.first_judged_at, judged_at);
    night.record = &record;
  }
  std::ranges::stable_sort(nights, {}, &KeptNight::first_judged_at);
  return nights;
}

/// The light of a case on a night; empty: it was not there.
std::string light_of(const Json& night, const NightlyCase& like) {
  for (const Json& one : member(night, "cases")) {
    const bool is_it = text(one, "suite") == like.suite && text(one, "case") == like.name &&
                       text(one, "machine") == like.machine;
    if (is_it) return text(one, "light");
  }
  return "";
}

}  // namespace

History::History(const std::string& path) : journal_(check_is_no_database(path)) {
  if (journal_.records().empty()) {
    journal_.append({{"format", kFormat}, {"what", kWhat}});
  } else if (text(journal_.records().front(), "what") != kWhat) {
    throw ResultsError(path + ":1:1: this is no history of nights");
  }
}

int History::yellow_nights(const NightlyCase& like, const std::string& journals) const {
  std::vector<KeptNight> nights = nights_in(journal_.records());
  const auto is_it = [&](const KeptNight& night) {
    return text(*night.record, "journals") == journals;
  };
  nights.erase(std::ranges::find_if(nights, is_it), nights.end());
  int count = 0;
  for (auto night = nights.rbegin(); night != nights.rend(); ++night) {
    const std::string light = light_of(*night->record, like);
    if (light.empty()) continue;
    if (light != enum_name(Light::yellow)) break;
    ++count;
  }
  return count;
}

void History::add(const std::string& journals, const std::string& judged_at,
                  const std::string& old_commit, const std::string& new_commit,
                  const std::vector<NightlyCase>& cases, const std::vector<std::string>& varied) {
  Json list = Json::array();
  for (const NightlyCase& one : cases) list.push_back(json_of(one));
  for (const KeptNight& night : nights_in(journal_.records())) {
    const bool is_same = text(*night.record, "journals") == journals;
    if (is_same && member(*night.record, "cases") == list) return;
  }
  journal_.append({{"journals", journals},
                   {"judged_at", judged_at},
                   {"old_commit", old_commit},
                   {"new_commit", new_commit},
                   {"varied", varied},
                   {"cases", std::move(list)}});
}

}  // namespace headroom
