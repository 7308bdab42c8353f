// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "src/programs/rank_runs.h"
#include "src/runner/dry_run.h"

namespace CLI {
class App;
}

namespace headroom {

/// How somebody's program is run dry: options of `plan -- PROGRAM` and `fit -- PROGRAM`.
struct ProgramArguments {
  std::vector<std::string> rank;  // numbers, or "all"
  std::string steps;              // empty: not given
  std::string seconds;            // of --for, likewise

  void add_to(CLI::App& command);

  /// The ranks that are planned one by one; none where --rank was not given. `ranks`: of --ranks.
  /// Throws ConfigError where they make no sense.
  PlayedRanks played(const std::string& ranks) const;

  /// Puts the machine that `played` and `ranks` ask for, the steps and the seconds, into `dry_run`.
  /// Throws ConfigError where they make no sense.
  void set(DryRun& dry_run, const PlayedRanks& played, const std::string& ranks) const;
};

/// Throws ConfigError for the first of these options that was given: `before`, its name, `why`.
void refuse_options(const std::string& before,
                    const std::vector<std::pair<std::string, bool>>& options,
                    const std::string& why);

}  // namespace headroom
