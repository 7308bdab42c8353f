// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "src/cli/ask_worker.h"
#include "src/cli/command_line.h"
#include "src/cli/dry_run_arguments.h"
#include "src/cli/plan_summary.h"
#include "src/cli/program_plan.h"
#include "src/cli/suite_arguments.h"
#include "src/core/error.h"

namespace headroom {
namespace {

constexpr const char* kFolder = "out/plan";

struct PlanOptions {
  SuiteArguments cases;
  DryRunArguments dry_run;
};

int plan(const CommandLine& line, const PlanOptions& options) {
  const bool has_suites = !options.cases.suites.empty();
  if (has_suites == !line.program.empty()) {
    throw ConfigError("plan: give suite files, or, behind --, a program to run dry");
  }
  const Catalog catalog = line.catalog();
  if (!has_suites) {
    return plan_program(line.program, make_dry_run(catalog, options.dry_run), options.cases.json);
  }
  const auto options_of = [&](const Suite& suite) {
    SuiteRunOptions run;
    run.worker = worker_path();
    run.device = "cuda";
    run.measures = false;
    run.dry_run = make_dry_run(catalog, options.dry_run, suite.gpu);
    return run;
  };
  return run_suites(catalog, options.cases, kFolder, options_of, &format_plan);
}

}  // namespace

void add_plan(CommandLine& line) {
  CLI::App* command = line.app.add_subcommand(
      "plan",
      "What cases, or any CUDA program of PyTorch (plan -- PROGRAM ...), take, with no GPU");
  const auto options = std::make_shared<PlanOptions>();
  options->cases.add_to(*command, kFolder);
  options->dry_run.add_to(*command);
  command->callback(
      [&line, options] { line.action = [&line, options] { return plan(line, *options); }; });
}

}  // namespace headroom
