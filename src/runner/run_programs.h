// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "src/runner/dry_run.h"
#include "src/runner/library_files.h"
#include "src/workers/program_file.h"

namespace headroom {

/// The files that make a run's figures: the worker, the libraries that it is linked with, and,
/// where cases are planned, what is loaded before it.
class RunPrograms {
 public:
  /// Throws what ProgramFile and LibraryFiles throw.
  RunPrograms(const std::string& worker, const std::optional<DryRun>& dry_run);

  const std::string& worker_hash() const { return files_.front().hash(); }
  /// What make_header() leaves to its caller.
  void add_to(nlohmann::ordered_json& header) const;
  /// Throws ResultsError where one of them has been replaced.
  void check_are_the_same();

 private:
  std::vector<ProgramFile> files_;  // the worker first
  LibraryFiles libraries_;
};

}  // namespace headroom
