// SPDX-License-Identifier: Apache-2.0
#include "src/results/results.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <utility>

#include "src/core/checksum.h"
#include "src/core/error.h"
#include "src/core/file.h"
#include "src/core/json.h"
#include "src/results/journal.h"
#include "src/results/results_folder.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse(const std::string& journal, std::size_t record, const std::string& why) {
  throw ResultsError(Place{journal, static_cast<int>(record) + 1, 1}.text() + ": " + why);
}

bool is_list_of_objects(const Json& json) {
  const auto is_object = [](const Json& item) { return item.is_object(); };
  return json.is_array() && std::ranges::all_of(json, is_object);
}

/// Of a record of a case: it has no other members than "case" and "row".
bool is_row_anew(const Json& record) { return record.size() == 2; }

/// Whether it has the parts that CaseResult names.
bool is_record_of_a_case(const Json& record) {
  const auto is_object = [&](const char* key) { return member(record, key).is_object(); };
  if (!member(record, "case").is_string() || !is_object("row")) return false;
  return is_row_anew(record) ||
         (is_object("gate") && is_object("environment") && record.contains("record") &&
          (record["record"].is_null() || is_object("record")) &&
          (!record.contains("rank_records") || is_list_of_objects(record["rank_records"])));
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
  try {
    status_of(row);
  } catch (const std::logic_error& error) {
    return error.what();
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
    if (is_row_anew(record)) {
      const auto done = cases.find(name);
      if (done == cases.end()) refuse(journal, i, "the case " + name + " is not done before it");
      done->second.row = std::move(record["row"]);
      continue;
    }
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

Json journal_entry(const CaseResult& one) {
  Json entry = {{"case", one.name},
                {"gate", one.gate},
                {"environment", one.environment},
                {"row", one.row},
                {"record", one.record}};
  if (!one.rank_records.empty()) entry["rank_records"] = one.rank_records;
  return entry;
}

Results make_results(std::vector<Json> records, const std::string& journal) {
  if (records.empty()) throw ResultsError(journal + ": there is nothing in it");
  Results results{
      .journal = journal, .header = std::move(records.front()), .cases = {}, .not_done = {}};
  check_header(results.header, journal);
  auto cases = read_cases(records, results.header["cases"], journal);
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

Results read_results(const std::string& folder) {
  const std::string path = std::filesystem::path(folder) / kJournalFile;
  const std::string text = read_file(path, kMaxBytesOfJournal);
  JournalText journal = read_journal(text, path);
  if (!journal.records.empty() && journal.whole_bytes < text.size()) {
    refuse(path, journal.records.size(), "this record is cut off");
  }
  Results results = make_results(std::move(journal.records), path);
  results.fingerprint = fingerprint(text);
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

std::vector<Results> read_all_results(const std::vector<std::string>& folders) {
  std::vector<Results> all;
  for (const std::string& folder : folders) {
    std::ranges::move(read_all_results(folder), std::back_inserter(all));
  }
  return all;
}

}  // namespace headroom
