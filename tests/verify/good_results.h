// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/suite/catalog.h"
#include "src/verify/verify.h"
#include "tests/support/temporary_folder.h"

namespace headroom {

using Json = nlohmann::ordered_json;

/// Results that keep all rules, to be spoilt: cases `plain`, `stack`, `ranks` (of two) and `large`
/// (which ran out of memory).
struct GoodResults {
  Json header;
  std::vector<Json> cases;  // the journal's records
  std::string suite_yaml;

  Json& work(std::size_t i) { return header["cases"][cases[i]["case"].get<std::string>()]; }
  Json& row(std::size_t i) { return cases[i]["row"]; }
  Json& record(std::size_t i) { return cases[i]["record"]; }
  /// Sets a column in a row and in its record, as if the worker had said so; null: it did not.
  void set(std::size_t i, const std::string& column, const Json& value);

  /// The journal's text, as headroom writes it.
  std::string journal() const;
  /// Writes the three files into a folder of that name, and gives its path. results.csv says what
  /// the rows say.
  std::string write(const TemporaryFolder& folder, const std::string& name = "results") const;
};

/// A line of a journal, with its checksum.
std::string journal_line(const std::string& json);

GoodResults good_results(const std::string& device = "cpu");
/// The same cases planned: `large` would take more than there is.
GoodResults good_plan();

/// The cases of a GPU, of a suite in which times don't matter.
GoodResults good_results_without_times();

/// The columns that these results have.
const Catalog& catalog_of_good_results();

/// Verifies a folder against that catalog.
Verification verify(const std::string& folder);

}  // namespace headroom
