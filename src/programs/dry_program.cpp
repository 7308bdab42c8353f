// SPDX-License-Identifier: Apache-2.0
#include "src/programs/dry_program.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <utility>

#include "src/core/file.h"
#include "src/core/scratch_folder.h"
#include "src/runner/extremes.h"

namespace headroom {
namespace {

/// The planner ends a program that hears no signal, and then says what that took.
constexpr DryTime kOfPlanner{.to_end = std::chrono::minutes(10)};

/// What a program leaves behind that ended by itself is its own affair, a compiler's server, say.
void spare_what_is_left(const DryEnd& ended, AdoptedProcesses& adopted) {
  const bool by_itself = ended.passed_on == 0 && ended.exit.signal == 0 && !ended.was_cut;
  if (by_itself) adopted.begin();
}

/// It may fit no GPU like this.
bool failed_for_memory(const DryProgram& program) {
  return !program.end.was_ended() && !program.end.is_good() &&
         std::ranges::any_of(program.reports.whole, &ran_out_of_memory);
}

/// Once as estimated; as needed: with each extreme as well, where memory depends on it; where
/// memory ran out, with memory without end. What the program compiles is kept for all of these and
/// no longer: kernels that it chose by a plan's times are none for a GPU, and where it finds chosen
/// ones it takes less memory than a first run does.
DryProgram run_as_often(HowOften often, DryCommand command, PlayedRanks ranks) {
  const ScratchFolder compiled;
  command.dry_run.compiled = compiled.path().string();
  const auto run = [&] {
    return ranks.world == 0 ? run_program(command) : run_ranks(command, ranks);
  };
  DryOutcome estimated = run();
  DryProgram program{std::move(estimated.end), std::move(estimated.reports), {}, {}};
  if (often == HowOften::once) return program;
  command.dry_run.holders = false;  // of the first run alone
  command.dry_run.snapshot.clear();
  // Cut at another place, they would be no bounds.
  const bool has_bounds = program.end.is_good() && !program.end.was_cut;
  const DryRun as_estimated = command.dry_run;
  for (const DryRun& extreme :
       has_bounds ? extremes_of(as_estimated, program.reports.whole) : std::vector<DryRun>()) {
    command.dry_run = extreme;
    DryOutcome outcome = run();
    program.end.passed_on = outcome.end.passed_on;
    if (outcome.end.was_ended()) {
      program.bounds.clear();  // some of the extremes are no bounds
      break;
    }
    program.bounds.push_back({extreme, outcome.end.is_good(), std::move(outcome.reports)});
  }
  command.dry_run = as_estimated;
  if (failed_for_memory(program)) {
    command.dry_run.overcommit = true;
    DryOutcome unlimited = run();
    program.end.passed_on = unlimited.end.passed_on;
    if (unlimited.end.is_good()) program.without_end = std::move(unlimited.reports);
  }
  return program;
}

}  // namespace

int run_dry(const std::vector<std::string>& command, const DryRun& dry_run,
            const PlayedRanks& ranks, const std::function<int(const DryProgram&)>& report,
            HowOften often) {
  std::optional<AdoptedProcesses> adopted(std::in_place);
  const FileDescriptor self = watch_end(getpid());
  // The terminal sends the first two to the program as well.
  std::optional<Interrupts> signals(std::in_place, {SIGINT, SIGQUIT, SIGTERM, SIGHUP});
  const pid_t planner = fork();
  if (planner < 0) throw_errno("fork");
  if (planner > 0) {
    const DryEnd ended = wait_for(planner, *signals, -1, /*store=*/nullptr, kOfPlanner);
    spare_what_is_left(ended, *adopted);
    return exit_code_of(ended.exit);
  }
  adopted->begin();
  const DryProgram program = run_as_often(often, {command, dry_run, *signals, self.get()}, ranks);
  signals.reset();  // from now on they end this process
  spare_what_is_left(program.end, *adopted);
  const bool has_failed = program.end.exit != ExitStatus{};
  if (has_failed && program.reports.whole.empty()) check_has_room_for_report();
  const int code = report(program);
  adopted.reset();
  std::exit(code);  // whatever the caller does next, its own process does
}

}  // namespace headroom
