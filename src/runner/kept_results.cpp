// SPDX-License-Identifier: Apache-2.0
#include "src/runner/kept_results.h"

#include <unistd.h>

#include <chrono>
#include <utility>

#include "src/core/error.h"
#include "src/core/file.h"
#include "src/results/results.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::chrono::seconds kPatience{10};  // with a reader of what could not be kept

}  // namespace

KeptResults::KeptResults(const Catalog& catalog, const Suite& suite,
                         const std::filesystem::path& folder, Json environment)
    : catalog_(catalog),
      suite_(suite),
      folder_(folder),
      journal_(folder_.journal()),
      environment_(std::move(environment)) {}

void KeptResults::begin(const Json& header, bool resume) {
  if (journal_.records().empty()) {
    folder_.make_ready();
    journal_.append(header);
  } else if (!resume) {
    throw ConfigError(folder_.path().string() +
                      ": there are results in this folder already; of a suite, --resume goes on "
                      "with them; --out names another folder");
  } else {
    go_on(header);
    folder_.make_ready();
    take_published_figures();
  }
  folder_.replace(kSuiteFile, suite_.effective_yaml);
  write_results();
}

/// Takes in what an earlier run left.
void KeptResults::go_on(const Json& header) {
  const Results results = make_results(journal_.records(), folder_.journal());
  const std::string difference = header_difference(results.header, header);
  if (!difference.empty()) {
    throw ResultsError(folder_.journal() + ": these results can't be continued: " + difference +
                       "; choose another folder with --out");
  }
  for (const CaseResult& one : results.cases) done_[one.name] = {one.row, one.rank_records};
}

/// The suite may have other published figures by now: rows that are done stand beside them too.
void KeptResults::take_published_figures() {
  for (const Case& one : suite_.cases) {
    const auto done = done_.find(one.name);
    if (done == done_.end()) continue;
    Row row = with_published(catalog_, done->second.row, one);
    if (row == done->second.row) continue;
    journal_.append({{"case", one.name}, {"row", row}});
    done->second.row = std::move(row);
  }
}

const Row* KeptResults::find_row(const Case& one) const {
  const auto done = done_.find(one.name);
  return done == done_.end() ? nullptr : &done->second.row;
}

std::optional<Row> KeptResults::row_with_ranks(const Case& one) const {
  const auto done = done_.find(one.name);
  if (done == done_.end()) return std::nullopt;
  Row row = done->second.row;
  const std::vector<Json>& records = done->second.rank_records;
  if (!records.empty()) row["rank_rows"] = make_rank_rows(catalog_, records);
  return row;
}

void KeptResults::keep(const Case& one, const Row& row, const Outcome& outcome) {
  journal_.append(entry_of(one, row, outcome));
  done_[one.name] = {row, outcome.rank_records};
  write_results();
}

void KeptResults::hand_over(const Case& one, const Row& row, const Outcome& outcome) const {
  if (row.is_null() && outcome.record.is_null()) return;  // it was not measured
  const std::string text =
      entry_of(one, row, outcome).dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
  try_write(STDERR_FILENO, text, kPatience);
}

Json KeptResults::entry_of(const Case& one, const Row& row, const Outcome& outcome) const {
  return journal_entry({.name = one.name,
                        .gate = one.gate,
                        .environment = environment_,
                        .row = row,
                        .record = outcome.record,
                        .rank_records = outcome.rank_records});
}

/// In the order of the journal's suite: the one of an earlier run may have had another.
void KeptResults::write_results() const {
  std::vector<Row> rows;
  for (const auto& [name, work] : journal_.records().front().at("cases").items()) {
    const auto done = done_.find(name);
    if (done != done_.end()) rows.push_back(done->second.row);
  }
  folder_.replace(kResultsFile, rows_to_csv(catalog_, rows));
}

}  // namespace headroom
