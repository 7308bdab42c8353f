// SPDX-License-Identifier: Apache-2.0
#include "src/cli/program_arguments.h"

#include <CLI/CLI.hpp>

#include "src/core/error.h"
#include "src/core/text.h"
#include "src/programs/played_rank.h"

namespace headroom {
namespace {

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

/// How many GPUs the machine has.
int devices_of(const std::string& ranks, const PlayedRanks& played) {
  if (played.world > 0) return ranks_of_machine(played.world);
  if (ranks.empty()) return 1;
  return number_of("--ranks", ranks, 1, DryRun::kMaxDevices,
                   "without --rank all ranks run, on one machine, whose GPUs are");
}

}  // namespace

void ProgramArguments::add_to(CLI::App& command) {
  command
      .add_option("--rank", rank,
                  "Of a program: plan these of --ranks, each by itself, and play the others; "
                  "all: the first of each stage of a pipeline, or the first and the last")
      ->delimiter(',');
  command.add_option("--steps", steps,
                     "Of a program of PyTorch: end it after so many steps of its optimizers");
  command.add_option("--for", seconds, "Of a program: end it after so many seconds");
}

PlayedRanks ProgramArguments::played(const std::string& ranks) const {
  if (rank.empty()) return {};
  if (ranks.empty()) throw ConfigError("--rank: of how many? --ranks says it");
  PlayedRanks played;
  played.world = number_of("--ranks", ranks, 1, PlayedRank::kMaxRanks, "a program's ranks are");
  played.are_all = rank == std::vector<std::string>{"all"};
  for (const std::string& one : rank) {
    if (played.are_all) break;
    played.list.push_back(
        number_of("--rank", one, 0, played.world - 1, "'all' alone, or whole numbers"));
  }
  return played;
}

void ProgramArguments::set(DryRun& dry_run, const PlayedRanks& played,
                           const std::string& ranks) const {
  if (!steps.empty()) dry_run.steps = number_of("--steps", steps, 1, 1'000'000, "whole numbers");
  if (!seconds.empty()) {
    dry_run.seconds = number_of("--for", seconds, 1, 1'000'000, "whole seconds");
  }
  dry_run.devices = devices_of(ranks, played);
}

void refuse_options(const std::string& before,
                    const std::vector<std::pair<std::string, bool>>& options,
                    const std::string& why) {
  for (const auto& [name, is_given] : options) {
    if (is_given) throw ConfigError(before + name + why);
  }
}

}  // namespace headroom
