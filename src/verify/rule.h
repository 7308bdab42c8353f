// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/json.h"
#include "src/results/results.h"
#include "src/verify/verify.h"

namespace headroom {

/// A results folder whose journal reads.
struct VerifiedFolder {
  std::filesystem::path path;
  const Results& results;
  const Catalog& catalog;
};

/// Takes the findings of one rule about one folder, with the place of each; of very many it keeps
/// the first kMaxFindings, and says so.
class Findings {
 public:
  Findings(std::string_view rule, Grade grade, std::string journal, std::vector<Finding>& into)
      : rule_(rule), grade_(grade), journal_(std::move(journal)), into_(into) {}

  /// About a case, at its record in the journal.
  void about(const CaseResult& result, const std::string& what);
  void at(const std::string& place, const std::string& case_name, const std::string& what);
  /// The error that reading a file threw: its message opens with the place.
  void of_error(const std::string& file, const std::string& message);

 private:
  std::string rule_;
  Grade grade_;
  std::string journal_;
  std::vector<Finding>& into_;
  std::size_t count_ = 0;
};

/// One thing that has to hold in results. A rule judges what is there, whatever its type: it never
/// throws for what a file says.
struct Rule {
  std::string_view name;
  Grade grade;
  std::string_view summary;
  void (*check)(const VerifiedFolder&, Findings&);
};

// The rules' functions, by the file that has them.

// verify_files.cpp
void check_is_complete(const VerifiedFolder& folder, Findings& findings);
void check_csv(const VerifiedFolder& folder, Findings& findings);
void check_suite_file(const VerifiedFolder& folder, Findings& findings);
// verify_row.cpp
void check_types(const VerifiedFolder& folder, Findings& findings);
void check_identity(const VerifiedFolder& folder, Findings& findings);
void check_case_fields(const VerifiedFolder& folder, Findings& findings);
void check_record(const VerifiedFolder& folder, Findings& findings);
void check_absent_figures(const VerifiedFolder& folder, Findings& findings);
// verify_memory.cpp
void check_parts(const VerifiedFolder& folder, Findings& findings);
void check_tensors(const VerifiedFolder& folder, Findings& findings);
void check_order_of_peaks(const VerifiedFolder& folder, Findings& findings);
// verify_time.cpp
void check_samples(const VerifiedFolder& folder, Findings& findings);
void check_losses(const VerifiedFolder& folder, Findings& findings);
void check_enough_samples(const VerifiedFolder& folder, Findings& findings);
// verify_conditions.cpp
void check_same_model(const VerifiedFolder& folder, Findings& findings);
void check_timestamps(const VerifiedFolder& folder, Findings& findings);
void check_order_in_time(const VerifiedFolder& folder, Findings& findings);
void check_commit(const VerifiedFolder& folder, Findings& findings);
void check_environment(const VerifiedFolder& folder, Findings& findings);
void check_exclusive_gpu(const VerifiedFolder& folder, Findings& findings);
void check_throttling(const VerifiedFolder& folder, Findings& findings);
void check_other_load(const VerifiedFolder& folder, Findings& findings);

// What rules read of a case.

/// The records of all ranks of a case; of a case of one process: the case's own record.
std::span<const nlohmann::ordered_json> records_of(const CaseResult& result);
/// Whether a record has more columns than a row can: nothing but the rule `record` looks at it.
bool has_too_many_columns(const nlohmann::ordered_json& record);
bool is_measured(const CaseResult& result);
/// Whether a case was measured, ended as ok, and timed steps that are kept.
bool was_timed(const VerifiedFolder& folder, const CaseResult& result);
/// Whether the row is to hold figures: it is ok, or the plan of what does not fit.
bool has_figures(const CaseResult& result);

}  // namespace headroom
