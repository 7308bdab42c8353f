// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "src/programs/store_server.h"
#include "src/runner/dry_run.h"
#include "src/workers/process.h"

// One process of somebody's program that runs dry, and its end.
namespace headroom {

struct DryEnd {
  ExitStatus exit;
  int passed_on = 0;      // the last signal that was passed on to it; 0: none
  std::string why_stuck;  // not empty: it was ended, as it waited for ranks that never come
  bool was_cut = false;   // it was ended after DryRun::seconds, which is no failure: exit is 0

  /// By itself, and well.
  bool is_good() const { return exit == ExitStatus{} && !was_ended(); }
  /// By a signal of somebody's, ctrl-C included, or as it waited for ever.
  bool was_ended() const;
};

/// What came of it.
struct DryOutcome {
  DryEnd end;
  DryReports reports;
};

/// What is run.
struct DryCommand {
  const std::vector<std::string>& words;  // found on PATH as a shell would
  DryRun dry_run;
  Interrupts& signals;
  int master;  // tells the end of the process that all this is done for
};

struct DryTime {
  std::chrono::seconds most{0};     // that it runs; 0: as long as it likes
  std::chrono::seconds to_end{20};  // where it was told to, before it is killed
};

/// Waits for a child, passes SIGTERM and SIGHUP on to it, and kills it where the process whose end
/// the descriptor `master` tells ends first (-1: there is none), or where it waits in `store` for
/// ranks that never come (null: it has a store of its own). Where its time is up it gets SIGINT, so
/// that Python says its last word.
DryEnd wait_for(pid_t child, Interrupts& signals, int master, StoreServer* store = nullptr,
                const DryTime& time = {});

/// Runs a command dry, its standard output at standard error, with `more` in its environment, and
/// waits for it, as wait_for() does. Throws ConfigError where it can't be started, and as
/// dry_run_environment() does.
DryOutcome run_program(const DryCommand& command, const Environment& more = {},
                       StoreServer* store = nullptr);

}  // namespace headroom
