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
#include "src/programs/played_rank.h"
#include "src/runner/dry_run.h"
#include "src/runner/environment_check.h"

namespace headroom {
namespace {

constexpr const char* kPlanFolder = "out/plan";

struct PlanOptions {
  SuiteArguments cases;
  DryRunArguments dry_run;
  std::vector<std::string> rank;  // of a program
  bool explain = false;           // of a program
  std::string steps;              // of a program
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
                      "--gpu-memory, --ranks, --rank, --steps, --explain and --json can stand");
  }
}

/// Throws ConfigError where an option was given that is for a program alone.
void check_options_of_suites(const PlanOptions& given) {
  const std::pair<const char*, bool> of_programs[] = {{"--rank", !given.rank.empty()},
                                                      {"--steps", !given.steps.empty()},
                                                      {"--explain", given.explain}};
  for (const auto& [name, is_given] : of_programs) {
    if (is_given) throw ConfigError(std::string(name) + " is for a program, behind --");
  }
}

/// A whole number of an option. `what`: it is.
int number_of(const std::string& option, const std::string& text, int least, int most,
              const std::string& what) {
  const auto number = parse_integer(text);
  if (!number || *number < least || *number > most) {
    throw ConfigError(option + ": '" + text + "': " + what + " from " + std::to_string(least) +
                      " to " + std::to_string(most));
  }
  return static_cast<int>(*number);
}

/// Throws ConfigError where they make no sense.
PlayedRanks played_ranks(const PlanOptions& options) {
  if (options.rank.empty()) return {};
  const std::string& ranks = options.cases.overrides.ranks;
  if (ranks.empty()) throw ConfigError("--rank: of how many? --ranks says it");
  PlayedRanks played;
  played.world = number_of("--ranks", ranks, 1, PlayedRank::kMaxRanks, "a program's ranks are");
  played.are_all = options.rank == std::vector<std::string>{"all"};
  for (const std::string& rank : options.rank) {
    if (played.are_all) break;
    played.list.push_back(
        number_of("--rank", rank, 0, played.world - 1, "'all' alone, or whole numbers"));
  }
  return played;
}

/// How many GPUs the machine of a program has. Throws ConfigError where it makes no sense.
int devices_of(const std::string& ranks, const PlayedRanks& played) {
  if (played.world > 0) return ranks_of_machine(played.world);
  if (ranks.empty()) return 1;
  return number_of("--ranks", ranks, 1, DryRun::kMaxDevices,
                   "without --rank all ranks run, on one machine, whose GPUs are");
}

int plan_program(const CommandLine& line, const Catalog& catalog, const PlanOptions& options) {
  check_options_of_program(options.cases);
  const PlayedRanks played = played_ranks(options);
  DryRun dry_run = make_dry_run(catalog, options.dry_run);
  dry_run.holders = options.explain;
  if (!options.steps.empty()) {
    dry_run.steps = number_of("--steps", options.steps, 1, 1'000'000, "whole numbers");
  }
  dry_run.devices = devices_of(options.cases.overrides.ranks, played);
  return run_dry(line.program, dry_run, played, [&](const DryProgram& program) {
    return report_program(program, line.program[0], {options.cases.json, options.explain});
  });
}

int plan(const CommandLine& line, const PlanOptions& options) {
  const bool has_suites = !options.cases.suites.empty();
  if (has_suites == !line.program.empty()) {
    throw ConfigError("plan: give suite files, or, behind --, a program to run dry");
  }
  const Catalog catalog = line.catalog();
  if (!has_suites) return plan_program(line, catalog, options);
  check_options_of_suites(options);
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
  command
      ->add_option("--rank", options->rank,
                   "Of a program: plan these of --ranks, each by itself, and play the others; "
                   "all: the first of each stage of a pipeline, or the first and the last")
      ->delimiter(',');
  command->add_option("--steps", options->steps,
                      "Of a program of PyTorch: end it after so many steps of its optimizers");
  command->add_flag("--explain", options->explain,
                    "Of a program of PyTorch: what holds its peak, by kind and line");
  command->callback(
      [&line, options] { line.action = [&line, options] { return plan(line, *options); }; });
}

}  // namespace headroom
