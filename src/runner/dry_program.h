// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/runner/dry_run.h"
#include "src/workers/process.h"

namespace headroom {

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
