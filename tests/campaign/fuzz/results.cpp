// SPDX-License-Identifier: Apache-2.0
// Journals whose checksums fit: all that reads results, and the rules that they have to keep.
#include "src/results/results.h"

#include "src/compare/night.h"
#include "src/core/json.h"
#include "src/report/export.h"
#include "src/report/report_page.h"
#include "src/results/journal.h"
#include "src/results/results_folder.h"
#include "tests/campaign/fuzz/checks.h"
#include "tests/campaign/fuzz/targets.h"
#include "tests/verify/good_results.h"

namespace headroom {
namespace {

Results results_of_text(const std::string& text) {
  return make_results(read_journal(text, kInputName).records, kInputName);
}

const std::vector<Results>& other_results() {
  static const std::vector<Results> results{results_of_text(good_results("cuda").journal())};
  return results;
}

void check_comparison(const std::vector<Results>& old_results,
                      const std::vector<Results>& new_results) {
  is_accepted(
      [&] {
        const Comparison comparison = compare(old_results, new_results);
        read_json(comparison_json(comparison));
        for (const ComparisonFormat& format : kComparisonFormats) format.write(comparison);
      },
      "");
}

/// A part of the input, which ends with a form feed or with the input.
std::string_view take_part(std::string_view& input) {
  const std::string_view part = input.substr(0, input.find('\f'));
  input.remove_prefix(std::min(part.size() + 1, input.size()));
  return part;
}

/// results.csv as headroom would write it.
std::string csv_of(const std::string& journal) {
  std::string text;
  is_accepted([&] {
    std::vector<Row> rows;
    for (const CaseResult& one : results_of_text(journal).cases) rows.push_back(one.row);
    text = rows_to_csv(catalog_of_good_results(), rows);
  });
  return text;
}

}  // namespace

void fuzz_results(std::string_view input) {
  static const TemporaryFolder folder;
  static const History history((folder.path() / "nights.jsonl").string());
  std::vector<Results> all;
  if (!is_accepted([&] { all.push_back(results_of_text(with_checksums(input))); })) return;
  check_comparison(all, all);
  check_comparison(other_results(), all);
  check_comparison(all, other_results());
  is_accepted(
      [&] {
        require(html_report(all).find("<script") == std::string::npos, "a page has no script");
      },
      "");
  for (const ExportFormat& format : export_formats()) is_accepted([&] { format.write(all); }, "");
  is_accepted([&] { judge_night({.old_results = all, .new_results = all}, history); }, "");
}

/// Lines of JSON, which get checksums; behind form feeds results.csv and suite.yaml. A file that is
/// not there, or empty, is as headroom would have written it.
void fuzz_verify(std::string_view input) {
  static const TemporaryFolder folder;
  const std::string journal = with_checksums(take_part(input));
  const std::string csv(take_part(input));
  const std::string suite(take_part(input));
  folder.write(kJournalFile, journal);
  folder.write(kResultsFile, csv.empty() ? csv_of(journal) : csv);
  folder.write(kSuiteFile, suite.empty() ? good_results().suite_yaml : suite);
  const Verification verification = verify_results({folder.path()}, catalog_of_good_results());
  for (const Finding& finding : verification.findings) {
    require(!finding.rule.empty() && !finding.what.empty(), "a finding says what it found");
    require(finding.place.starts_with(folder.path().string()), "a finding has a place");
  }
}

}  // namespace headroom
