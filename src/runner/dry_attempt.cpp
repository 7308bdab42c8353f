// SPDX-License-Identifier: Apache-2.0
#include "src/runner/dry_attempt.h"

#include <vector>

#include "src/core/file.h"

namespace headroom {

DryAttempt attempt_dry(WorkerRequest request, const DryRun& dry_run, const Catalog& catalog,
                       Interrupts& interrupts,
                       const std::function<void(const WorkerProgress&)>& on_progress) {
  const ScratchFolder reports;
  request.body["planned"] = true;
  request.environment = dry_run_environment(dry_run, reports.path());
  // The host computes little in between; threads that spin for more take others' time.
  request.environment.emplace_back("OMP_WAIT_POLICY", "passive");
  const WorkerReply reply = call_worker(request, interrupts, on_progress);
  DryAttempt result;
  result.interrupted = reply.ending == WorkerReply::Ending::interrupted;
  result.outcome = outcome_of(reply, catalog);
  const std::vector<nlohmann::ordered_json> all = read_reports(reports.path());
  if (!all.empty()) result.report = all.front();
  return result;
}

}  // namespace headroom
