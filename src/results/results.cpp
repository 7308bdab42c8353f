// SPDX-License-Identifier: Apache-2.0
#include "src/results/results.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "src/core/checksum.h"
#include "src/core/error.h"
#include "src/core/file.h"
#include "src/core/json.h"
#include "src/results/journal.h"
#include "src/results/results_folder.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxBytes = std::size_t{1} << 30;

[[noreturn]] void refuse(const std::string& journal, std::size_t record, const std::string& why) {
  throw ResultsError(Place{journal, static_cast<int>(record) + 1, 1}.text() + ": " + why);
}

bool is_list_of_objects(const Json& json) {
  const auto is_object = [](const Json& item) { return item.is_object(); };
  return json.is_array() && std::ranges::all_of(json, is_object);
}

/// Whether it has the parts that CaseResult names.
bool is_record_of_a_case(const Json& record) {
  const auto is_object = [&](const char* key) { return member(record, key).is_object(); };
  return member(record, "case").is_string() && is_object("gate") && is_object("environment") &&
         is_object("row") && record.contains("record") &&
         (record["record"].is_null() || is_object("record")) &&
         (!record.contains("rank_records") || is_list_of_objects(record["rank_records"]));
}

/// Why a record is none of a case; empty: it is one.
std::string fault_of(const Json& record) {
  if (!is_record_of_a_case(record)) return "this is no record of a case";
  const Json& row = record["row"];
  if (row.size() > kMaxColumns) {
    return "the row has " + std::to_string(row.size()) + " columns; at most " +
           std::to_string(kMaxColumns) + " are allowed";
  }
  for (const auto& [name, value] : row.items()) {
    if (is_cell(value)) continue;
    return "the row's " + name + " is of the kind " + value.type_name() +
           "; allowed: a text or a number";
  }
  return "";
}

/// The cases of the journal's records, by name. Takes what they hold out of the records.
std::map<std::string, CaseResult> read_cases(std::vector<Json>& records, const Json& works,
                                             const std::string& journal) {
  std::map<std::string, CaseResult> cases;
  for (std::size_t i = 1; i < records.size(); ++i) {
    Json& record = records[i];
    if (const std::string fault = fault_of(record); !fault.empty()) refuse(journal, i, fault);
    const std::string name = record["case"].get<std::string>();
    if (!works.contains(name)) refuse(journal, i, "the suite has no case " + name);
    CaseResult one{.name = name,
                   .work = works[name],
                   .gate = std::move(record["gate"]),
                   .environment = std::move(record["environment"]),
                   .row = std::move(record["row"]),
                   .record = std::move(record["record"]),
                   .line = static_cast<int>(i) + 1};
    if (record.contains("rank_records")) {
      one.rank_records = std::move(record["rank_records"].get_ref<Json::array_t&>());
    }
    try {
      status_of(one.row);
    } catch (const std::logic_error& error) {
      refuse(journal, i, error.what());
    }
    if (!cases.emplace(name, std::move(one)).second) {
      refuse(journal, i, "the case " + name + " is there a second time");
    }
  }
  return cases;
}

}  // namespace

const CaseResult* Results::find(const std::string& name) const {
  const auto found = std::ranges::find(cases, name, &CaseResult::name);
  return found == cases.end() ? nullptr : &*found;
}

Results read_results(const std::string& folder) {
  Results results;
  results.journal = std::filesystem::path(folder) / kJournalFile;
  const std::string text = read_file(results.journal, kMaxBytes);
  JournalText journal = read_journal(text, results.journal);
  results.fingerprint = fingerprint(text);
  if (journal.records.empty()) throw ResultsError(results.journal + ": there is nothing in it");
  if (journal.whole_bytes < text.size()) {
    refuse(results.journal, journal.records.size(), "this record is cut off");
  }
  results.header = std::move(journal.records.front());
  check_header(results.header, results.journal);
  auto cases = read_cases(journal.records, results.header["cases"], results.journal);
  for (const auto& [name, work] : results.header["cases"].items()) {
    const auto found = cases.find(name);
    if (found == cases.end()) {
      results.not_done.push_back(name);
    } else {
      results.cases.push_back(std::move(found->second));
    }
  }
  return results;
}

std::vector<std::string> results_folders(const std::string& folder,
                                         const std::vector<std::string>& files) {
  const std::filesystem::path root(folder);
  if (!std::filesystem::is_directory(root)) throw ConfigError(folder + ": no folder of results");
  const auto holds_one = [&](const std::filesystem::path& path) {
    return std::ranges::any_of(
        files, [&](const std::string& file) { return std::filesystem::exists(path / file); });
  };
  std::vector<std::string> folders;
  if (holds_one(root)) folders.push_back(folder);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.is_directory() && holds_one(entry.path())) folders.push_back(entry.path());
  }
  if (folders.empty()) {
    throw ConfigError(folder + ": there are no results in it: no " + kJournalFile);
  }
  std::ranges::sort(folders);
  return folders;
}

std::vector<Results> read_all_results(const std::string& folder) {
  std::vector<Results> all;
  for (const std::string& one : results_folders(folder, {kJournalFile})) {
    all.push_back(read_results(one));
  }
  return all;
}

}  // namespace headroom
