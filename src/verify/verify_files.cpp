// SPDX-License-Identifier: Apache-2.0
// Rules about the files of a results folder: they are complete, and say the same.
#include <algorithm>
#include <map>
#include <set>
#include <system_error>

#include "src/core/csv.h"
#include "src/core/error.h"
#include "src/core/file.h"
#include "src/core/yaml.h"
#include "src/results/columns.h"
#include "src/results/results_folder.h"
#include "src/suite/suite.h"
#include "src/verify/rule.h"

namespace headroom {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 28;

/// The place of a byte of a text.
Place place_of(const std::string& file, std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  const std::size_t line_start = before.rfind('\n') + 1;
  return {file, static_cast<int>(std::ranges::count(before, '\n')) + 1,
          static_cast<int>(at - line_start) + 1};
}

std::string quoted(const std::string& cell) { return "'" + cell + "'"; }

/// A results.csv as the journal has it, under the file's own header.
struct ExpectedCsv {
  std::string text;
  std::vector<std::vector<std::string>> rows;  // as the text reads
};

ExpectedCsv expected_csv(const std::vector<std::string>& header,
                         const std::vector<CaseResult>& cases) {
  ExpectedCsv expected{.text = csv_line(header), .rows = {}};
  for (const CaseResult& result : cases) {
    std::vector<std::string> cells;
    for (const std::string& column : header) {
      const auto& value = member(result.row, column);
      cells.push_back(value.is_null() ? "" : cell_text(value));
    }
    expected.text += csv_line(cells);
  }
  expected.rows = read_csv(expected.text, kResultsFile).rows;
  return expected;
}

/// What is wrong with a table that is not the expected one.
std::string difference(const CsvTable& table, const ExpectedCsv& expected) {
  const std::size_t rows = std::min(table.rows.size(), expected.rows.size());
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < table.header.size(); ++i) {
      const std::string& cell = table.rows[row][i];
      const std::string& journal = expected.rows[row][i];
      if (cell == journal) continue;
      return table.header[i] + " is " + quoted(cell) + "; the journal says " + quoted(journal);
    }
  }
  if (table.rows.size() != expected.rows.size()) {
    return std::to_string(table.rows.size()) + " rows; the journal has " +
           std::to_string(expected.rows.size());
  }
  return "the cells are the journal's, but headroom writes them otherwise";
}

/// The header has every column that a row has, and no other that this version does not know.
void compare_header(const VerifiedFolder& folder, const CsvTable& table, const std::string& path,
                    Findings& findings) {
  const std::string place = Place{path, 1, 1}.text();
  std::set<std::string> used;
  for (const CaseResult& result : folder.results.cases) {
    for (const auto& [column, value] : result.row.items()) {
      if (!used.insert(column).second || table.column(column) >= 0) continue;
      findings.at(place, result.name, "there is no column " + column);
    }
  }
  for (const std::string& column : table.header) {
    if (used.contains(column) || folder.catalog.find_column(column) != nullptr) continue;
    findings.at(place, "", "no row has a column " + column);
  }
}

void compare_csv(const VerifiedFolder& folder, const std::string& path, Findings& findings) {
  const std::string text = read_file(path, kMaxFileBytes);
  const CsvTable table = read_csv(text, path);
  if (table.header.size() > kMaxColumns) {
    return findings.at(Place{path, 1, 1}.text(), "",
                       "more than " + std::to_string(kMaxColumns) + " columns");
  }
  const ExpectedCsv expected = expected_csv(table.header, folder.results.cases);
  if (text != expected.text) {
    const auto [in_text, in_expected] = std::ranges::mismatch(text, expected.text);
    const auto at = static_cast<std::size_t>(in_text - text.begin());
    findings.at(place_of(path, text, at).text(), "", difference(table, expected));
  }
  compare_header(folder, table, path, findings);
}

using Names = std::vector<std::string>;

/// The limit of a suite holds for one that is only read, too.
void check_count(std::size_t cases, const Place& place) {
  if (cases <= Suite::kMaxCases) return;
  throw ConfigError(place, "more than " + std::to_string(Suite::kMaxCases) + " cases in all");
}

/// Adds what a matrix adds to a case's name: "@path=value,path=value". Throws ConfigError where
/// that would be more cases than a suite may have.
Names with_matrix(Names names, const Node* matrix) {
  if (matrix == nullptr) return names;
  char mark = '@';
  for (const Member& axis : matrix->members) {
    check_count(names.size() * axis.value.items.size(), axis.place);
    Names longer;
    for (const std::string& name : names) {
      for (const Node& value : axis.value.items) {
        longer.push_back(name + mark + axis.key + "=" + value.text);
      }
    }
    names = std::move(longer);
    mark = ',';
  }
  return names;
}

std::string text_of(const Node* node) { return node == nullptr ? "" : node->text; }

/// What the names of cases begin with, for each group that they stand in: "bert_". Empty texts
/// where the suite has no groups.
Names groups_of(const Node& suite) {
  const Node* list = suite.find("groups");
  if (list == nullptr) return {""};
  Names groups;
  for (const Node& group : list->items) groups.push_back(text_of(group.find("name")) + "_");
  return groups;
}

/// The cases of a suite file, by name. Throws ConfigError where they are too many, or two of them
/// have one name.
std::map<std::string, const Node*> cases_of(const Node& suite) {
  std::map<std::string, const Node*> cases;
  const Node* list = suite.find("cases");
  if (list == nullptr) return cases;
  const Names groups = groups_of(suite);
  for (const Node& entry : list->items) {
    Names names;
    for (const std::string& group : groups) names.push_back(group + text_of(entry.find("name")));
    for (std::string& name : with_matrix(std::move(names), suite.find("matrix"))) {
      check_count(cases.size() + 1, entry.place);
      if (!cases.emplace(name, &entry).second) {
        throw ConfigError(entry.place, "the case " + name + " is there a second time");
      }
    }
  }
  return cases;
}

/// The published figures of a row are those of its entry, which the suite in effect writes as JSON
/// does.
void compare_published(const CaseResult& result, const Node& entry, Findings& findings) {
  std::map<std::string, std::string> published;
  if (const Node* given = entry.find("published")) {
    for (const Member& figure : given->members) published[figure.key] = figure.value.text;
  }
  for (const auto& [column, value] : result.row.items()) {
    if (!column.starts_with(kPublishedPrefix)) continue;
    const std::string name = column.substr(kPublishedPrefix.size());
    const std::string in_suite = published[name];
    published.erase(name);
    if (cell_text(value) == in_suite) continue;
    findings.about(result,
                   column + " is " + cell_text(value) + "; suite.yaml says " + quoted(in_suite));
  }
  for (const auto& [name, value] : published) {
    findings.about(result,
                   "suite.yaml has the published " + name + " " + value + "; the row has none");
  }
}

void compare_suite(const VerifiedFolder& folder, const std::string& path, Findings& findings) {
  const Node suite = read_yaml_file(path);
  const Node* name = suite.find("suite");
  if (text_of(name) != folder.results.suite()) {
    findings.at((name == nullptr ? suite : *name).place.text(), "",
                "the suite is " + quoted(text_of(name)) + "; the journal's is " +
                    quoted(folder.results.suite()));
  }
  const auto cases = cases_of(suite);
  const auto& works = folder.results.header["cases"];
  for (const auto& [case_name, entry] : cases) {
    if (works.contains(case_name)) continue;
    findings.at(entry->place.text(), case_name, "the journal's suite has no such case");
  }
  for (const auto& [case_name, work] : works.items()) {
    if (!cases.contains(case_name)) findings.at(path, case_name, "suite.yaml has no such case");
  }
  for (const CaseResult& result : folder.results.cases) {
    const auto entry = cases.find(result.name);
    if (entry != cases.end()) compare_published(result, *entry->second, findings);
  }
}

/// Compares a file of the folder; a file that can't be read is a finding.
template <class Compare>
void read_and(Compare compare, const VerifiedFolder& folder, const char* file, Findings& findings) {
  const std::string path = folder.path / file;
  try {
    compare(folder, path, findings);
  } catch (const ConfigError& error) {
    findings.of_error(path, error.what());
  } catch (const ResultsError& error) {
    findings.of_error(path, error.what());
  }
}

}  // namespace

void check_is_complete(const VerifiedFolder& folder, Findings& findings) {
  for (const std::string& name : folder.results.not_done) {
    findings.at(Place{folder.results.journal, 1, 1}.text(), name, "this case is not done");
  }
}

void check_csv(const VerifiedFolder& folder, Findings& findings) {
  read_and(compare_csv, folder, kResultsFile, findings);
}

void check_suite_file(const VerifiedFolder& folder, Findings& findings) {
  read_and(compare_suite, folder, kSuiteFile, findings);
}

}  // namespace headroom
