// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "src/runner/dry_run.h"

namespace headroom {

/// Runs a program dry and prints what it took, or would have taken when it ran out of memory. Gives
/// the exit code: 0, also where memory ran out, which is a result; 1 where the program failed.
/// Throws ConfigError where it used no CUDA, Unsupported where it did what a dry run can't follow.
int plan_program(const std::vector<std::string>& program, const DryRun& dry_run, bool json);

}  // namespace headroom
