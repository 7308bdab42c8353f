// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <nlohmann/json.hpp>

#include "src/runner/dry_run.h"
#include "src/runner/outcome.h"
#include "src/workers/worker_call.h"

namespace headroom {

/// One dry run of a worker.
struct DryAttempt {
  bool interrupted = false;
  Outcome outcome;
  nlohmann::ordered_json report;  // of the dry run; null: the process came to no end of its own
};

/// Runs a worker dry. `request` is what would measure a case on CUDA.
/// Throws std::system_error where a worker can't be started.
DryAttempt attempt_dry(WorkerRequest request, const DryRun& dry_run, const Catalog& catalog,
                       Interrupts& interrupts,
                       const std::function<void(const WorkerProgress&)>& on_progress);

}  // namespace headroom
