// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "src/cli/arguments.h"
#include "src/cli/ask_worker.h"
#include "src/cli/command_line.h"
#include "src/cli/output.h"
#include "src/cli/program_arguments.h"
#include "src/cli/program_plan.h"
#include "src/cli/suite_runs.h"
#include "src/cli/summary.h"
#include "src/core/error.h"
#include "src/programs/kept_program.h"
#include "src/runner/dry_run.h"
#include "src/runner/environment_check.h"
#include "src/suite/schema.h"

namespace headroom {
namespace {

constexpr const char* kPlanFolder = "out/plan";
constexpr std::size_t kMostJobs = 1024;

struct PlanOptions {
  SuiteArguments cases;
  DryRunArguments dry_run;
  ProgramArguments program;
  std::size_t jobs = 1;
  bool explain = false;  // of a program
  std::string name;      // of a program
};

/// Throws ConfigError where an option was given that a program can't obey.
void check_options_of_program(const PlanOptions& options) {
  const SuiteArguments& given = options.cases;
  refuse_options("plan: ",
                 {{"--only", !given.only.empty()},
                  {"--shard", !given.shard.empty()},
                  {"--jobs", options.jobs > 1},
                  {"--set", !given.overrides.set.empty()},
                  {"--resume", given.resume}},
                 " is for suites; before -- PROGRAM, --gpu, --gpu-memory, --ranks, --rank, "
                 "--steps, --for, --explain, --out, --name, --snapshot and --json can stand");
  if (given.snapshot && given.out.empty()) {
    throw ConfigError("--snapshot: in which results folder? --out says it");
  }
}

/// Throws ConfigError where an option was given that is for a program alone.
void check_options_of_suites(const PlanOptions& given) {
  refuse_options("",
                 {{"--rank", !given.program.rank.empty()},
                  {"--steps", !given.program.steps.empty()},
                  {"--for", !given.program.seconds.empty()},
                  {"--name", !given.name.empty()},
                  {"--explain", given.explain}},
                 " is for a program, behind --");
}

/// What its results are called. Throws ConfigError where there are to be none, or it is no name.
std::string name_of_results(const PlanOptions& options, const std::vector<std::string>& words) {
  if (options.name.empty()) return name_of_program(words);
  if (options.cases.out.empty()) throw ConfigError("--name: of which results? --out says it");
  if (!is_name(options.name)) {
    throw ConfigError("--name: '" + options.name + "': allowed is " + kNameRule);
  }
  return options.name;
}

int plan_program(const CommandLine& line, const Catalog& catalog, const PlanOptions& options) {
  check_options_of_program(options);
  const std::string& ranks_given = options.cases.overrides.ranks;
  const PlayedRanks played = options.program.played(ranks_given);
  DryRun dry_run = make_dry_run(catalog, options.dry_run);
  dry_run.holders = options.explain;
  options.program.set(dry_run, played, ranks_given);
  const std::string name = name_of_results(options, line.program);
  std::optional<KeptProgram> kept;
  if (!options.cases.out.empty()) {
    const int ranks = played.world > 0 ? played.world : dry_run.devices;
    const std::string rank = fmt::format("{}", fmt::join(options.program.rank, ","));
    kept.emplace(catalog, ProgramCase{name, line.program, ranks, dry_run, rank}, options.cases.out);
  }
  if (options.cases.snapshot) dry_run.snapshot = kept->snapshot_path();
  return run_dry(line.program, dry_run, played, [&](const DryProgram& program) {
    if (!dry_run.snapshot.empty() && !std::filesystem::exists(dry_run.snapshot)) {
      say("--snapshot: the program did not end by itself, or is none of PyTorch: there is none");
    }
    return report_program(program, line.program[0], {options.cases.json, options.explain},
                          kept ? &*kept : nullptr);
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
    run.jobs = options.jobs;
    run.dry_run = make_dry_run(catalog, options.dry_run, suite.gpu);
    return run;
  };
  return run_suites(catalog, options.cases, kPlanFolder, options_of);
}

}  // namespace

void add_plan(CommandLine& line) {
  CLI::App* command = line.app.add_subcommand(
      "plan",
      "What cases, or any CUDA program of PyTorch (plan -- PROGRAM ...), take, with no GPU");
  const auto options = std::make_shared<PlanOptions>();
  options->cases.add_to(*command, kPlanFolder);
  options->dry_run.add_to(*command);
  options->program.add_to(*command);
  command
      ->add_option("-j,--jobs", options->jobs,
                   "How many cases to plan at once; each takes a core and some GB of memory")
      ->check(CLI::Range(std::size_t{1}, kMostJobs))
      ->capture_default_str();
  command->add_option("--name", options->name,
                      "Of a program: what its row in --out is called; default: as its script");
  command->add_flag("--explain", options->explain,
                    "Of a program of PyTorch: what holds its peak, by kind and line");
  command->callback(
      [&line, options] { line.action = [&line, options] { return plan(line, *options); }; });
}

}  // namespace headroom
