// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/programs/dry_process.h"
#include "src/programs/rank_runs.h"

namespace headroom {

/// What came of somebody's program that ran dry.
struct DryProgram {
  DryEnd end;
  DryReports reports;

  /// The same once more, with an extreme of what its memory depends on.
  struct Extreme {
    DryRun dry_run;
    bool is_good = false;  // it ended well
    DryReports reports{};
  };
  /// With all of them, src/runner/extremes.h, where the program ended well; else none.
  std::vector<Extreme> bounds;

  /// Where it failed as memory ran out: the same with memory without end, if that ended well.
  std::optional<DryReports> without_end;
};

/// How often a program is run: once, as estimated, or also as often as DryProgram says.
enum class HowOften { once, as_needed };

/// Runs a command, found on PATH as a shell would, dry, and gives what `report` makes of it: an
/// exit code. It runs as each of `ranks`, one after the other, up to the first that fails: of that
/// is how it ended, and the reports are of all. The program has this process's group, terminal,
/// standard input and error; what it prints goes to standard error, so that standard output is the
/// plan's. ctrl-C reaches it, and is not this process's end. SIGTERM and SIGHUP are passed on to
/// it; once it has ended, all that it started does too. So it is where this process is killed: the
/// program and `report` belong to a second process, a child, which is there to see that. What
/// `report` throws is thrown there; here, this gives the child's exit code. Throws ConfigError
/// where the program can't be started, and as dry_run_environment() does; std::system_error where
/// it failed and there was no room to report.
int run_dry(const std::vector<std::string>& command, const DryRun& dry_run,
            const PlayedRanks& ranks, const std::function<int(const DryProgram&)>& report,
            HowOften often = HowOften::as_needed);

}  // namespace headroom
