// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/workers/process.h"

// How a program is run dry: src/dry_run, the CUDA that does nothing, is loaded before it.
// docs/planning.md.
namespace headroom {

/// What a dry run plays.
struct DryRun {
  std::string libraries;  // the folder of libcuda.so.1 and libnvidia-ml.so.1, those of src/dry_run
  std::string gpu;        // a name of the table of GPUs
  std::int64_t memory_bytes = 0;  // in place of the GPU's own; 0: its own

  /// How fast the host is beside the device decides which blocks the allocator may use again: as
  /// estimated, or one of the two bounds.
  enum class Host { estimated, ahead, slow } host = Host::estimated;
  bool overcommit = false;  // allocations beyond the memory succeed
};

/// The variables that make a program run dry. Its processes leave their reports in `reports`.
Environment dry_run_environment(const DryRun& dry_run, const std::filesystem::path& reports);

/// The reports in that folder, of all processes that used the device and came to their end, by
/// process number. A report that was torn is left out.
std::vector<nlohmann::ordered_json> read_reports(const std::filesystem::path& folder);

/// What came of somebody's program that ran dry.
struct DryProgram {
  ExitStatus exit;
  std::vector<nlohmann::ordered_json> reports;  // of its processes that used the device
};

/// Runs a command, found on PATH as a shell would, dry. It has this process's standard input and
/// error; what it prints goes to standard error, so that standard output is the plan's. ctrl-C
/// reaches it, and is not this process's end.
/// Throws ConfigError where it can't be started.
DryProgram run_dry(const std::vector<std::string>& command, const DryRun& dry_run);

}  // namespace headroom
