// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/results/row.h"

namespace headroom {

/// What came of a case, as the journal keeps it.
struct CaseResult {
  std::string name;
  nlohmann::ordered_json work = {};         // as Case::work() has it: an object
  nlohmann::ordered_json gate = {};         // how far its figures may move, as gate_field() has it
  nlohmann::ordered_json environment = {};  // of the runner, as environment() has it
  Row row = {};                             // its line of results.csv: texts and numbers
  nlohmann::ordered_json record = {};       // the worker's, an object; null: it sent none
  std::vector<nlohmann::ordered_json> rank_records = {};  // empty: there was one process
  int line = 0;                                           // of the journal, from 1

  /// Whether it is somebody's program, of whose memory no tensor is known.
  bool is_of_program() const { return work.is_object() && work.contains("program"); }
  /// How far a figure may move, by its key in `gate`.
  double limit(const char* key) const { return number_in(gate, key).value_or(0); }
};

/// What a results folder holds, as its journal has it.
struct Results {
  std::string journal;                // its path, for messages
  nlohmann::ordered_json header;      // see make_header()
  std::vector<CaseResult> cases;      // that are done, in the suite's order
  std::vector<std::string> not_done;  // the suite's other cases
  std::string fingerprint = {};       // of the journal's bytes

  std::string suite() const { return header["suite"].get<std::string>(); }
  /// Null: it is not done.
  const CaseResult* find(const std::string& name) const;
};

/// The record of a journal that holds what came of a case.
nlohmann::ordered_json journal_entry(const CaseResult& one);

/// What the records of a journal say: the header, then one record for each case that is done. A
/// record {"case", "row"} behind that of its case is its row anew, beside other published figures.
/// `journal` names the file in errors. Throws ResultsError with file:line where a record is none of
/// these, or a case is there a second time.
Results make_results(std::vector<nlohmann::ordered_json> records, const std::string& journal);

/// Reads a results folder, and changes nothing in it. Throws ConfigError where it has no journal,
/// and ResultsError with file:line where the journal is damaged or cut off, is of another format,
/// or holds records of another kind than headroom writes: what reads results relies on the kinds
/// that CaseResult names, and judges the values itself.
Results read_results(const std::string& folder);

/// The folders in and below `folder`, itself included, that hold one of these files, by path.
/// Throws ConfigError where it is no folder, or none does.
std::vector<std::string> results_folders(const std::string& folder,
                                         const std::vector<std::string>& files);

/// All results folders in and below a folder, by path: repeats of a suite, several suites, or both.
/// Throws as read_results() does, and ConfigError where there are none.
std::vector<Results> read_all_results(const std::string& folder);
/// Those of several folders, one after the other.
std::vector<Results> read_all_results(const std::vector<std::string>& folders);

}  // namespace headroom
