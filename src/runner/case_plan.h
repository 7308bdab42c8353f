// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "src/runner/dry_run.h"
#include "src/runner/outcome.h"
#include "src/runner/step_time.h"
#include "src/workers/worker_call.h"

namespace headroom {

/// What a plan knows beside the worker's record; nothing where it could not be known. Each is a
/// column of a planned row.
struct PlanFigures {
  std::optional<std::int64_t> context_bytes;
  std::optional<std::int64_t> nccl_bytes;  // where there are any
  std::optional<bool> fits;
  std::optional<std::int64_t> missing_bytes;  // where it does not fit: by how much
  // The bounds of run_peak_reserved_bytes over all paces of the host and copies of convolutions.
  std::optional<std::int64_t> run_peak_reserved_lower_bytes;
  std::optional<std::int64_t> run_peak_reserved_upper_bytes;
  std::optional<std::int64_t> step_time_lower_bound_ns;
  std::optional<StepTime> step_time;  // estimated
};

/// What came of planning a case.
struct CasePlan {
  Outcome outcome;
  PlanFigures figures;
};

/// Plans a case: runs its worker dry. `request` is what would measure it on CUDA. The worker runs
/// again where more must be known: with a faster and a slower host, and with convolutions that work
/// on copies, where reserved memory depends on that; with as much memory as it takes, where the
/// case does not fit. Nothing: the user interrupted it. Throws as attempt_dry().
std::optional<CasePlan> plan_case(const WorkerRequest& request, const DryRun& dry_run,
                                  const Catalog& catalog, Interrupts& interrupts,
                                  const std::function<void(const WorkerProgress&)>& on_progress);

/// The least time that an update can take on a GPU of the table: its FLOPs, its bytes over the host
/// link and those to other ranks at the GPU's peak rates, the longest of the three. `record` is a
/// worker's; `tf32` says that float32 products may run as TF32. Nothing: the record does not count
/// FLOPs, or what it counts makes no time, or the GPU is unknown.
std::optional<std::int64_t> step_time_lower_bound_ns(const nlohmann::ordered_json& record,
                                                     const std::string& gpu, bool tf32);

}  // namespace headroom
