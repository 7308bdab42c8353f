// SPDX-License-Identifier: Apache-2.0
#include "src/runner/merge.h"

#include <algorithm>
#include <map>
#include <utility>

#include "src/core/error.h"
#include "src/core/file.h"
#include "src/results/columns.h"
#include "src/results/journal.h"
#include "src/results/machine.h"
#include "src/results/results_folder.h"
#include "src/runner/reference.h"
#include "src/runner/row_of_case.h"
#include "src/suite/suite.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t kMostBytesOfSuite = std::size_t{64} << 20;

fs::path folder_of(const Results& part) { return fs::path(part.journal).parent_path(); }

/// What a case came to, without when and by which processor: a plan has it from neither.
Row lasting(const Catalog& catalog, const CaseResult& one, const std::string& kind) {
  if (kind != "planned") return one.row;
  Row row = one.row;
  for (const Column& column : catalog.columns) {
    if (column.group == ColumnGroup::provenance) row.erase(column.name);
  }
  row.erase(column::host_peak_bytes);  // of the process that planned
  return row;
}

class Merger {
 public:
  Merger(const Catalog& catalog, const std::vector<const Results*>& parts)
      : catalog_(catalog),
        parts_(parts),
        header_(parts.front()->header),
        kind_(header_["kind"].get<std::string>()),
        suite_(read_suite()) {
    for (const Results* part : parts_) take(*part);
  }

  Merged write(const fs::path& out) {
    const ResultsFolder folder(out);
    Journal journal(folder.journal());
    if (!journal.records().empty()) {
      throw ConfigError(out.string() +
                        ": there are results in this folder already; --out names "
                        "another folder");
    }
    folder.make_ready();
    journal.append(header_);
    folder.replace(kSuiteFile, suite_text_);
    for (const Results* part : parts_) copy_beside(*part, out);
    Merged merged;
    std::vector<CaseResult> results;
    for (const Case& one : suite_.cases) {
      const auto found = cases_.find(one.name);
      if (found == cases_.end()) {
        merged.not_done.push_back(one.name);
        continue;
      }
      CaseResult result = *found->second;
      check_loss(one, result);
      merged.rows.push_back(result.row);
      done_[one.name] = result.row;
      results.push_back(std::move(result));
    }
    // A journal's cases stand in the order in which they started.
    std::ranges::stable_sort(
        results, {}, [](const CaseResult& one) { return text_in(one.row, column::started_at); });
    for (const CaseResult& result : results) journal.append(journal_entry(result));
    folder.replace(kResultsFile, rows_to_csv(catalog_, merged.rows));
    return merged;
  }

 private:
  /// The suite in effect, which all parts must have alike.
  Suite read_suite() {
    const fs::path file = folder_of(*parts_.front()) / kSuiteFile;
    suite_text_ = read_file(file, kMostBytesOfSuite);
    for (const Results* part : parts_) {
      const std::string difference = header_difference(header_, part->header);
      if (!difference.empty()) refuse(*part, difference);
      if (read_file(folder_of(*part) / kSuiteFile, kMostBytesOfSuite) == suite_text_) continue;
      refuse(*part, std::string("its ") + kSuiteFile + " is another");
    }
    Suite suite = load_suite(file, catalog_);
    const Json own = make_header(suite, catalog_, kind_, "", "")["cases"];
    if (own != header_["cases"]) {
      throw ResultsError(file.string() + ": this headroom reads it otherwise than the one that " +
                         "made the results: merge them with that one");
    }
    return suite;
  }

  [[noreturn]] void refuse(const Results& part, const std::string& why) const {
    throw ResultsError(part.journal + ": these results can't be merged with those of " +
                       parts_.front()->journal + ": " + why);
  }

  void take(const Results& part) {
    for (const CaseResult& one : part.cases) {
      if (first_ == nullptr) first_ = &one;
      const auto differences = machine_differences(*first_, one, kind_).others;
      if (!differences.empty()) refuse(part, "of its case " + one.name + ", " + differences[0]);
      const auto [there, is_new] = cases_.emplace(one.name, &one);
      if (is_new || lasting(catalog_, *there->second, kind_) == lasting(catalog_, one, kind_)) {
        continue;
      }
      throw ResultsError(part.journal + ": the case " + one.name +
                         " came to something else in another part: a case is measured once");
    }
  }

  /// As a run does where the reference is done before the case.
  void check_loss(const Case& one, CaseResult& result) const {
    if (kind_ == "planned" || status_of(result.row) != Status::ok) return;
    const auto done = [&](const Case& other) {
      const auto row = done_.find(other.name);
      return row == done_.end() ? nullptr : &row->second;
    };
    const Verdict verdict = check_against_reference(catalog_, suite_, one, result.row, done);
    if (verdict.status == Status::ok) return add_note(verdict.reason, result.row);
    CaseFacts facts;
    facts.started_at = text_in(result.row, column::started_at);
    facts.outcome.verdict = verdict;
    facts.outcome.record = result.record;
    facts.outcome.rank_records = result.rank_records;
    RunFacts run;
    run.suite = suite_.name;
    run.device = text_in(result.row, column::device);
    run.commit = text_in(result.row, column::commit);
    run.environment = result.environment;
    result.row = make_row(catalog_, run, one, facts);
  }

  /// `reason`: the row's own, and behind it what was not compared, where the row's own does not say
  /// so yet.
  static void add_note(const std::string& reason, Row& row) {
    const std::string own = text_in(row, column::reason);
    const std::string note =
        own.empty() ? reason : reason.substr(std::min(own.size() + 2, reason.size()));
    if (own.find(note) == std::string::npos) row[column::reason] = reason;
  }

  /// Logs and snapshots: a file bears the name of its case.
  static void copy_beside(const Results& part, const fs::path& out) {
    for (const char* folder : {kLogFolder, kSnapshotFolder}) {
      const fs::path from = folder_of(part) / folder;
      if (!fs::exists(from)) continue;
      make_folders(out / folder);
      fs::copy(from, out / folder, fs::copy_options::recursive | fs::copy_options::skip_existing);
    }
  }

  const Catalog& catalog_;
  const std::vector<const Results*>& parts_;
  const Json header_;
  const std::string kind_;
  std::string suite_text_;
  const Suite suite_;
  const CaseResult* first_ = nullptr;               // of all parts: the machine
  std::map<std::string, const CaseResult*> cases_;  // by name
  std::map<std::string, Row> done_;                 // written so far
};

}  // namespace

Merged merge_results(const Catalog& catalog, const std::vector<const Results*>& parts,
                     const fs::path& out) {
  return Merger(catalog, parts).write(out);
}

}  // namespace headroom
