// SPDX-License-Identifier: Apache-2.0
#include "src/verify/verify.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "src/core/error.h"
#include "src/results/columns.h"
#include "src/results/journal.h"
#include "src/results/results_folder.h"
#include "src/verify/rule.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr Grade kWrong = Grade::wrong;
constexpr Grade kWeak = Grade::weak;

/// Broken where reading throws.
constexpr std::string_view kJournalRule = "journal";

constexpr std::array kRules = {
    Rule{"csv", kWrong, "results.csv is what the journal's rows say", check_csv},
    Rule{"suite_file", kWrong, "suite.yaml has the header's cases and the rows' published figures",
         check_suite_file},
    Rule{"types", kWrong,
         "figures are finite and of their column's type; bytes, counts and times not below 0",
         check_types},
    Rule{"identity", kWrong, "a row is of the header's suite, kind, device and case",
         check_identity},
    Rule{"case_fields", kWrong, "a row's settings are those of its case", check_case_fields},
    Rule{"record", kWrong, "a row's figures are those of the workers' records", check_record},
    Rule{"absent_figures", kWrong,
         "a row that is not ok has no figures; a plan, and a memory_only suite, no time",
         check_absent_figures},
    Rule{"parts", kWrong, "the parts of the peak sum to it, to the byte", check_parts},
    Rule{"tensors", kWrong, "the tensors of the peak sum to its parts, to the byte", check_tensors},
    Rule{"order_of_peaks", kWrong, "no peak is larger than one that includes it",
         check_order_of_peaks},
    Rule{"samples", kWrong, "median, deviation and rate follow from the timed steps",
         check_samples},
    Rule{"losses", kWrong, "the losses of all steps are there, and finite", check_losses},
    Rule{"same_model", kWrong, "a model has as many parameters in every row", check_same_model},
    Rule{"timestamps", kWrong, "started_at is UTC in ISO 8601", check_timestamps},
    Rule{"complete", kWeak, "every case of the suite has a row", check_is_complete},
    Rule{"enough_samples", kWeak, "enough steps were timed, after enough others",
         check_enough_samples},
    Rule{"order_in_time", kWeak, "cases started in the order of the journal", check_order_in_time},
    Rule{"commit", kWeak, "the program can be built again", check_commit},
    Rule{"environment", kWeak, "all rows are of one machine and one program", check_environment},
    Rule{"exclusive_gpu", kWeak, "nobody else computed on the GPU", check_exclusive_gpu},
    Rule{"throttling", kWeak, "the GPU was not slowed by heat or power", check_throttling},
    Rule{"other_load", kWeak, "nobody else kept the cores busy", check_other_load},
};

/// Nothing: the journal can't be read, which is said.
std::optional<Results> read_folder(const std::filesystem::path& folder, Findings&& findings) {
  const std::string journal = folder / kJournalFile;
  try {
    return read_results(folder);
  } catch (const ResultsError& error) {
    findings.of_error(journal, error.what());
  } catch (const ConfigError& error) {
    findings.of_error(journal, error.what());
  }
  return std::nullopt;
}

void verify_folder(const std::filesystem::path& folder, const Catalog& catalog,
                   Verification& verification) {
  const auto findings = [&](std::string_view rule, Grade grade) {
    return Findings(rule, grade, folder / kJournalFile, verification.findings);
  };
  const auto results = read_folder(folder, findings(kJournalRule, kWrong));
  if (!results) return;
  verification.rows += results->cases.size();
  for (const Rule& rule : kRules) {
    Findings own = findings(rule.name, rule.grade);
    rule.check({folder, *results, catalog}, own);
  }
}

}  // namespace

void Findings::about(const CaseResult& result, const std::string& what) {
  at(Place{journal_, result.line, 1}.text(), result.name, what);
}

void Findings::at(const std::string& place, const std::string& case_name, const std::string& what) {
  if (++count_ < kMaxFindings) {
    into_.push_back({rule_, grade_, place, case_name, what});
  } else if (count_ == kMaxFindings) {
    into_.push_back({rule_, grade_, journal_, "", "there are more of these, which are not told"});
  }
}

void Findings::of_error(const std::string& file, const std::string& message) {
  const std::size_t end =
      message.starts_with(file) ? message.find(": ", file.size()) : message.npos;
  if (end == std::string::npos) return at(file, "", message);
  at(message.substr(0, end), "", message.substr(end + 2));
}

bool Verification::has(Grade grade) const {
  return std::ranges::find(findings, grade, &Finding::grade) != findings.end();
}

Verification verify_results(const std::vector<std::string>& paths, const Catalog& catalog) {
  Verification verification;
  for (const std::string& path : paths) {
    // Also those where a file is missing: that is a finding.
    for (const std::string& folder : results_folders(path, {kJournalFile, kResultsFile})) {
      ++verification.folders;
      verify_folder(folder, catalog, verification);
    }
  }
  return verification;
}

std::vector<std::string_view> verified_rules() {
  std::vector<std::string_view> names = {kJournalRule};
  for (const Rule& rule : kRules) names.push_back(rule.name);
  return names;
}

std::span<const Json> records_of(const CaseResult& result) {
  if (result.rank_records.empty()) return {&result.record, 1};
  return result.rank_records;
}

bool has_too_many_columns(const Json& record) { return columns_of(record).size() > kMaxColumns; }

bool is_measured(const CaseResult& result) {
  return text_in(result.row, column::kind) == "measured";
}

bool was_timed(const VerifiedFolder& folder, const CaseResult& result) {
  return is_measured(result) && !is_memory_only(folder.results.header) &&
         status_of(result.row) == Status::ok && member_at(result.work, "train.steps") != 0;
}

bool has_figures(const CaseResult& result) {
  const Status status = status_of(result.row);
  const bool is_of_plan = !is_measured(result) && status == Status::out_of_memory;
  return status == Status::ok ||
         (is_of_plan && result.row.contains(column::run_peak_allocated_bytes));
}

}  // namespace headroom
