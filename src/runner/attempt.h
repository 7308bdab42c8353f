// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "src/runner/dry_run.h"
#include "src/runner/outcome.h"
#include "src/suite/case.h"
#include "src/suite/catalog.h"
#include "src/workers/agents.h"
#include "src/workers/worker_call.h"

// One attempt at a case: whether it can run at all, the request to its workers, and what came of
// it, measured by all its ranks or dry by one worker.
namespace headroom {

/// Why the case can't run, so that no worker need be started: it lists techniques that exclude each
/// other, or none that joins its ranks. Nothing: it can.
std::optional<std::string> why_unsupported(const Case& one, const Catalog& catalog);

/// The request that has a worker measure a case on that device ("cpu" or "cuda"), within the case's
/// own limits. Where the case's ranks are joined it is the request to rank 0. What the worker
/// prints goes to the descriptor `log`, which stays the caller's.
WorkerRequest measure_request(const std::string& worker, const std::string& device, const Case& one,
                              const Catalog& catalog, int log);

/// One measurement of a case by all its ranks.
struct RankAttempt {
  bool interrupted = false;
  Outcome outcome;
  std::vector<pid_t> unended = {};  // workers that not even SIGKILL ended, see WorkerReply
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

/// Has a worker use the first `gpus` GPUs of this machine, as a case of so many ranks that went
/// wrong can leave one that works for nobody. Nothing: all work, or the user interrupted it.
std::optional<std::string> why_gpus_do_not_work(const std::string& worker, std::int64_t gpus,
                                                int log, Interrupts& interrupts);

/// One run of a case's worker over the CUDA that does nothing.
struct DryAttempt {
  bool interrupted = false;
  Outcome outcome;
  /// Of the dry run. Null: the process used no device, and the outcome is not `ok`.
  nlohmann::ordered_json report;
};

/// Runs a worker dry. `request` is what would measure a case on CUDA. A case whose worker answered
/// has failed where its dry run left no report, as nobody knows then whether it fits. Throws
/// std::system_error where a worker can't be started or there is no room for a report, ConfigError
/// as dry_run_environment().
DryAttempt attempt_dry(WorkerRequest request, const DryRun& dry_run, const Catalog& catalog,
                       Interrupts& interrupts,
                       const std::function<void(const WorkerProgress&)>& on_progress);

}  // namespace headroom
