// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "src/runner/outcome.h"
#include "src/runner/worker_call.h"

namespace headroom {

/// One measurement of a case by all its ranks.
struct RankAttempt {
  bool interrupted = false;
  Outcome outcome;
};

/// Measures a case on this machine: `requests` are what would measure it, one for each of its
/// ranks, in their order. Ranks that are joined get a store of their own, a file that is not there
/// yet, in a folder that nobody else may read and that goes with the attempt. Several ranks share
/// the cores, unless OMP_NUM_THREADS is set. Throws std::system_error where a worker can't be
/// started.
RankAttempt attempt_ranks(std::vector<WorkerRequest> requests, const Catalog& catalog,
                          Interrupts& interrupts,
                          const std::function<void(const WorkerProgress&)>& on_progress);

}  // namespace headroom
