// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "src/cli/arguments.h"
#include "src/cli/ask_worker.h"
#include "src/cli/command_line.h"
#include "src/cli/program_plan.h"
#include "src/cli/suite_runs.h"
#include "src/cli/summary.h"
#include "src/core/error.h"
#include "src/core/text.h"
#include "src/runner/dry_run.h"
#include "src/runner/environment_check.h"

namespace headroom {
namespace {

constexpr const char* kPlanFolder = "out/plan";

struct PlanOptions {
  SuiteArguments cases;
  DryRunArguments dry_run;
};

/// Throws ConfigError where an option was given that a program can't obey.
void check_options_of_program(const SuiteArguments& given) {
  const std::pair<const char*, bool> of_suites[] = {{"--only", !given.only.empty()},
                                                    {"--set", !given.overrides.set.empty()},
                                                    {"--out", !given.out.empty()},
                                                    {"--resume", given.resume},
                                                    {"--snapshot", given.snapshot}};
  for (const auto& [name, is_given] : of_suites) {
    if (!is_given) continue;
    throw ConfigError(std::string("plan: ") + name + " is for suites; before -- PROGRAM, --gpu, " +
                      "--gpu-memory, --ranks and --json can stand");
  }
}

/// How many GPUs the machine of a program has. Throws ConfigError where it makes no sense.
int devices_of(const std::string& ranks) {
  if (ranks.empty()) return 1;
  const auto number = parse_integer(ranks);
  if (!number || *number < 1 || *number > DryRun::kMaxDevices) {
    throw ConfigError("--ranks: '" + ranks + "': a program's machine has from 1 to " +
                      std::to_string(DryRun::kMaxDevices) + " GPUs");
  }
  return static_cast<int>(*number);
}

int plan_program(const CommandLine& line, const Catalog& catalog, const PlanOptions& options) {
  check_options_of_program(options.cases);
  DryRun dry_run = make_dry_run(catalog, options.dry_run);
  dry_run.devices = devices_of(options.cases.overrides.ranks);
  return run_dry(line.program, dry_run, [&](const DryProgram& program) {
    return report_program(program, line.program[0], options.cases.json);
  });
}

int plan(const CommandLine& line, const PlanOptions& options) {
  const bool has_suites = !options.cases.suites.empty();
  if (has_suites == !line.program.empty()) {
    throw ConfigError("plan: give suite files, or, behind --, a program to run dry");
  }
  const Catalog catalog = line.catalog();
  if (!has_suites) return plan_program(line, catalog, options);
  check_environment(environment_variables(), false);
  const auto options_of = [&](const Suite& suite) {
    SuiteRunOptions run;
    run.worker = worker_path();
    run.device = "cuda";
    run.measures = false;
    run.dry_run = make_dry_run(catalog, options.dry_run, suite.gpu);
    return run;
  };
  return run_suites(catalog, options.cases, kPlanFolder, options_of, &format_plan);
}

}  // namespace

void add_plan(CommandLine& line) {
  CLI::App* command = line.app.add_subcommand(
      "plan",
      "What cases, or any CUDA program of PyTorch (plan -- PROGRAM ...), take, with no GPU");
  const auto options = std::make_shared<PlanOptions>();
  options->cases.add_to(*command, kPlanFolder);
  options->dry_run.add_to(*command);
  command->callback(
      [&line, options] { line.action = [&line, options] { return plan(line, *options); }; });
}

}  // namespace headroom
