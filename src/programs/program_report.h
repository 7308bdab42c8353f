// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/programs/dry_program.h"

namespace headroom {

/// What a program that ran dry took, as far as it came.
struct ProgramReport {
  /// An object for each device of each process, as `plan --json` prints them (docs/programs.md); of
  /// several processes only those that asked for memory.
  std::vector<nlohmann::ordered_json> processes;
  bool has_failed = false;
  bool fits = true;  // memory did not run out, or the program went on with less
  /// Of the one that takes most, the step of the peak (src/programs/step_memory.h); null: it is not
  /// known.
  nlohmann::ordered_json step_memory;

  /// The one that takes most of its device. Not for a report without processes.
  const nlohmann::ordered_json& largest() const;
};

/// Whether one takes less of its device than another.
bool takes_less(const nlohmann::ordered_json& process, const nlohmann::ordered_json& other);

/// `name`: of the program, for messages. Throws ConfigError where it used no CUDA device, or left a
/// damaged report; Unsupported where it did what a dry run can't follow.
ProgramReport make_report(const DryProgram& program, const std::string& name);

}  // namespace headroom
