// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "src/cli/arguments.h"
#include "src/runner/suite_run.h"
#include "src/suite/suite.h"

// What `run` and `plan` do with suites.
namespace headroom {

/// Cases of suites, as they were asked for.
struct Selection {
  std::vector<Suite> suites;
  std::function<bool(const Case&)> selects;
};

/// Throws ConfigError where a suite, --only or --shard is wrong, or --only names no case.
Selection select_cases(const Catalog& catalog, const SuiteArguments& arguments);

/// The exit code that rows come to: 1 where a case failed, 4 where the machine can do none.
int exit_code(const std::vector<Row>& rows);

/// Runs all suites and prints what came of them. `options_of` gives a suite's options but for the
/// folder and the selection. Gives the exit code. Throws std::system_error where something can't be
/// printed, after the last suite.
int run_suites(const Catalog& catalog, const SuiteArguments& arguments, const std::string& folder,
               const std::function<SuiteRunOptions(const Suite&)>& options_of);

}  // namespace headroom
