// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "src/results/results.h"
#include "src/verify/verify.h"

namespace headroom {

/// A results folder whose journal reads.
struct VerifiedFolder {
  std::filesystem::path path;
  const Results& results;
  const Catalog& catalog;
};

/// What a rule says about one folder.
class Complaints {
 public:
  Complaints(std::string_view rule, Grade grade, std::string journal, std::vector<Finding>& into)
      : rule_(rule), grade_(grade), journal_(std::move(journal)), into_(into) {}

  /// About a case, at its record in the journal.
  void about(const CaseResult& one, const std::string& what);
  /// About the folder, at the journal's header.
  void about_folder(const std::string& what);
  void at(const std::string& place, const std::string& case_name, const std::string& what);
  /// What an error says of a file: its message opens with the place.
  void because(const std::string& file, const std::string& message);

 private:
  std::string rule_;
  Grade grade_;
  std::string journal_;
  std::vector<Finding>& into_;
};

/// One thing that has to hold in results. A rule judges what is there, whatever its type: it never
/// throws for what a file says.
struct Rule {
  std::string_view name;
  Grade grade;
  std::string_view summary;
  void (*check)(const VerifiedFolder&, Complaints&);
};

// The rules' functions, by the file that has them.

// verify_files.cpp
void check_is_complete(const VerifiedFolder& folder, Complaints& complaints);
void check_csv(const VerifiedFolder& folder, Complaints& complaints);
void check_suite_file(const VerifiedFolder& folder, Complaints& complaints);
// verify_row.cpp
void check_types(const VerifiedFolder& folder, Complaints& complaints);
void check_identity(const VerifiedFolder& folder, Complaints& complaints);
void check_case_fields(const VerifiedFolder& folder, Complaints& complaints);
void check_record(const VerifiedFolder& folder, Complaints& complaints);
void check_absent_figures(const VerifiedFolder& folder, Complaints& complaints);
// verify_memory.cpp
void check_parts(const VerifiedFolder& folder, Complaints& complaints);
void check_tensors(const VerifiedFolder& folder, Complaints& complaints);
void check_order_of_peaks(const VerifiedFolder& folder, Complaints& complaints);
// verify_time.cpp
void check_samples(const VerifiedFolder& folder, Complaints& complaints);
void check_losses(const VerifiedFolder& folder, Complaints& complaints);
void check_enough_samples(const VerifiedFolder& folder, Complaints& complaints);
// verify_conditions.cpp
void check_same_model(const VerifiedFolder& folder, Complaints& complaints);
void check_timestamps(const VerifiedFolder& folder, Complaints& complaints);
void check_order_in_time(const VerifiedFolder& folder, Complaints& complaints);
void check_commit(const VerifiedFolder& folder, Complaints& complaints);
void check_environment(const VerifiedFolder& folder, Complaints& complaints);
void check_exclusive_gpu(const VerifiedFolder& folder, Complaints& complaints);
void check_throttling(const VerifiedFolder& folder, Complaints& complaints);
void check_other_load(const VerifiedFolder& folder, Complaints& complaints);

// What rules read of a case.

/// A member of an object; null where there is none.
const nlohmann::ordered_json& member(const nlohmann::ordered_json& object, std::string_view key);
/// The same by a dotted path.
const nlohmann::ordered_json& member_at(const nlohmann::ordered_json& object,
                                        std::string_view path);
/// An integer that is a member; nothing where there is none.
std::optional<std::int64_t> integer_in(const nlohmann::ordered_json& object, std::string_view key);
/// The records of all its ranks; of one process: its own.
std::vector<nlohmann::ordered_json> records_of(const CaseResult& one);
bool is_measured(const CaseResult& one);
/// Measured, ended as ok, and steps were timed.
bool was_timed(const CaseResult& one);
/// Whether the row is to hold figures: it is ok, or the plan of what does not fit.
bool has_figures(const CaseResult& one);

}  // namespace headroom
