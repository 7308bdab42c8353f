// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "src/programs/program_report.h"
#include "src/results/row.h"
#include "src/runner/kept_results.h"

namespace headroom {

/// Somebody's program as a case: what is planned, and for what.
struct ProgramCase {
  std::string name;                // as is_name() has it; of the suite, too
  std::vector<std::string> words;  // of the command
  std::int64_t ranks = 1;          // as --ranks has them
  DryRun dry_run;
  std::string rank = {};  // as --rank has it; empty: not given
};

/// What a case is called that nobody named: the script of the command, without its folder and
/// ending, or the program.
std::string name_of_program(const std::vector<std::string>& words);

/// A results folder with one case, a program, which `verify`, `compare`, `report` and `gate` read
/// as they read a suite's. Its row holds the figures of the process that takes most of its device;
/// those of all processes are in its record.
class KeptProgram {
 public:
  /// Begins the folder. Throws ConfigError where there are results in it already, or files that
  /// headroom did not make; std::system_error that names what can't be written.
  KeptProgram(const Catalog& catalog, ProgramCase program, const std::filesystem::path& folder);

  const std::filesystem::path& folder() const { return results_.folder().path(); }
  /// Where rank 0's snapshot belongs; absolute.
  std::string snapshot_path() const;

  /// Keeps what came of it: a row that is `ok`, `out_of_memory` (with what it takes where memory
  /// has no end, if that is known), or `failed` for `why`. Throws std::system_error where the disk
  /// has no room.
  void keep(const ProgramReport& report, const std::string& why);

  /// Keeps that it could not be planned.
  void keep_unsupported(const std::string& why);

 private:
  void add(const Outcome& outcome, const PlanFigures& figures);

  const Catalog& catalog_;
  Suite suite_;
  RunFacts facts_;
  std::string started_at_;
  KeptResults results_;
};

}  // namespace headroom
