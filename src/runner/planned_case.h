// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "src/runner/dry_run.h"
#include "src/runner/outcome.h"
#include "src/workers/worker_call.h"

namespace headroom {

/// What came of planning a case.
struct PlannedCase {
  Outcome outcome;
  /// The columns that the worker does not know: context_bytes, fits, missing_bytes, the two bounds
  /// of run_peak_reserved_bytes, and step_time_lower_bound_ns.
  nlohmann::ordered_json columns = nlohmann::ordered_json::object();
};

/// Runs a case's worker dry. `request` is what would measure it on CUDA. The worker runs again
/// where more must be known: with a faster and a slower host, where reserved memory depends on
/// that; with as much memory as it takes, where the case does not fit. Nothing: the user
/// interrupted it. Throws std::system_error where a worker can't be started.
std::optional<PlannedCase> plan_case(const WorkerRequest& request, const DryRun& dry_run,
                                     const Catalog& catalog, Interrupts& interrupts,
                                     const std::function<void(const WorkerProgress&)>& on_progress);

}  // namespace headroom
