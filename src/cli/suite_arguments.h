// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "src/cli/override_arguments.h"
#include "src/runner/suite_run.h"
#include "src/suite/suite.h"
#include "src/workers/this_process.h"

// What `run` and `plan` have in common: which cases, and where their results go.
namespace headroom {

struct SuiteArguments {
  std::vector<std::string> suites;
  std::string only;
  OverrideArguments overrides;
  std::string out;
  bool resume = false;
  bool snapshot = false;
  bool json = false;

  /// `folder`: below which folder results go where --out names none.
  void add_to(CLI::App& command, const std::string& folder);
};

/// Cases of suites, as they were asked for.
struct Selection {
  std::vector<Suite> suites;
  std::function<bool(const Case&)> selects;
};

/// Throws ConfigError where a suite is wrong or --only names no case.
Selection select_cases(const Catalog& catalog, const SuiteArguments& arguments);

/// Runs all suites and prints what came of them; `format` makes the table for people. `options_of`
/// gives a suite's options but for the folder and the selection. Gives the exit code.
int run_suites(const Catalog& catalog, const SuiteArguments& arguments, const std::string& folder,
               const std::function<SuiteRunOptions(const Suite&)>& options_of,
               const std::function<std::string(const std::vector<Row>&)>& format);

}  // namespace headroom
