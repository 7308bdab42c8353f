// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "src/runner/outcome.h"
#include "src/workers/agents.h"
#include "src/workers/worker_call.h"

namespace headroom {

/// One measurement of a case by all its ranks.
struct RankAttempt {
  bool interrupted = false;
  Outcome outcome;
};

/// Measures a case: `requests` are what would measure it, one for each of its ranks, in their
/// order. Several ranks share the cores of a machine, unless OMP_NUM_THREADS is set.
///
/// Without `agents`, or of one rank, all are started here. Ranks that are joined get a store of
/// their own, a file that is not there yet, in a folder that nobody else may read and that goes
/// with the attempt. With `agents`, who are at least as many as the other ranks, each of these is
/// started by its own, and they meet at a port of this machine.
///
/// Throws std::system_error where a worker can't be started here.
RankAttempt attempt_ranks(std::vector<WorkerRequest> requests, Agents* agents,
                          const Catalog& catalog, Interrupts& interrupts,
                          const std::function<void(const WorkerProgress&)>& on_progress);

}  // namespace headroom
