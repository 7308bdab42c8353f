// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "src/results/journal.h"
#include "src/results/results_folder.h"
#include "src/runner/row_of_case.h"
#include "src/suite/suite.h"

namespace headroom {

/// What a run keeps of its cases: the journal, and results.csv and suite.yaml, which are derived
/// from it.
class KeptResults {
 public:
  /// Locks the journal of that folder. `environment` is kept beside each case. Throws what
  /// ResultsFolder and Journal throw.
  KeptResults(const Catalog& catalog, const Suite& suite, const std::filesystem::path& folder,
              nlohmann::ordered_json environment);

  /// Begins a journal with that header, or goes on with the one that is there. Throws ConfigError
  /// where there is one and `resume` is not set, ResultsError where its header is another.
  void begin(const nlohmann::ordered_json& header, bool resume);

  const ResultsFolder& folder() const { return folder_; }
  /// Of a record that a kill tore, at the end of the journal.
  std::int64_t cut_bytes() const { return journal_.cut_bytes(); }

  /// Null: the case is not done.
  const Row* find_row(const Case& one) const;
  /// With "rank_rows" where there were several ranks, see make_rank_rows().
  std::optional<Row> row_with_ranks(const Case& one) const;

  /// Throws std::system_error where the journal or results.csv can't be written.
  void keep(const Case& one, const Row& row, const Outcome& outcome);
  /// Writes what was measured and could not be kept to standard error, as a line of JSON: it may
  /// have taken hours. Waits a while for its reader, and no longer.
  void hand_over(const Case& one, const Row& row, const Outcome& outcome) const;

 private:
  struct Done {
    Row row;
    std::vector<nlohmann::ordered_json> rank_records;  // empty: there was one process
  };

  void go_on(const nlohmann::ordered_json& header);
  void take_published_figures();
  void write_results() const;
  nlohmann::ordered_json entry_of(const Case& one, const Row& row, const Outcome& outcome) const;

  const Catalog& catalog_;
  const Suite& suite_;
  ResultsFolder folder_;
  Journal journal_;
  const nlohmann::ordered_json environment_;
  std::map<std::string, Done> done_;  // by the case's name
};

}  // namespace headroom
