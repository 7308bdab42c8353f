// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/programs/rank_runs.h"
#include "src/runner/dry_run.h"

namespace headroom {

/// One plan of a program of which several are made: whether it fits, and the process that
/// takes most.
struct SinglePlan {
  bool fits = false;
  nlohmann::ordered_json largest;  // one of ProgramReport::processes
};

/// There is no plan: the program failed otherwise than for memory, was ended, or could not be
/// followed. It was said why.
struct NoPlan {
  int exit_code;
};

/// Runs a program dry, as run_dry() does, once. `said` hears why a program failed by itself. Throws
/// NoPlan, and as run_dry().
SinglePlan plan_once(const std::vector<std::string>& words, const DryRun& dry_run,
                     const PlayedRanks& played,
                     const std::function<void(const std::string&)>& said);

}  // namespace headroom
