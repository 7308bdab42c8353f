// SPDX-License-Identifier: Apache-2.0
#include "src/runner/planned_case.h"

#include <algorithm>
#include <array>

#include "src/runner/dry_attempt.h"
#include "src/runner/step_time_bound.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kReserved = "run_peak_reserved_bytes";

class Planner {
 public:
  Planner(const WorkerRequest& request, const Catalog& catalog, Interrupts& interrupts,
          const std::function<void(const WorkerProgress&)>& on_progress)
      : request_(request), catalog_(catalog), interrupts_(interrupts), on_progress_(on_progress) {}

  std::optional<PlannedCase> plan(const DryRun& dry_run) {
    const DryAttempt estimated = attempt(dry_run, request_);
    if (estimated.interrupted) return std::nullopt;
    PlannedCase result{estimated.outcome, columns_of(estimated.report)};
    const Status status = estimated.outcome.verdict.status;
    if (estimated.report.is_null()) return result;
    if (status == Status::out_of_memory) {
      if (!add_missing(dry_run, result)) return std::nullopt;
    } else if (status == Status::ok) {
      result.columns["fits"] = "yes";
      if (!add_bounds(dry_run, estimated, result)) return std::nullopt;
    }
    add_lower_bound(dry_run, result);
    return result;
  }

 private:
  DryAttempt attempt(const DryRun& dry_run, const WorkerRequest& request) {
    return attempt_dry(request, dry_run, catalog_, interrupts_, on_progress_);
  }

  static Json columns_of(const Json& report) {
    if (report.is_null()) return Json::object();
    return {{"context_bytes", report.at("context_bytes")}};
  }

  /// By how much a case misses the memory: what it takes where there is no end of it. False: the
  /// user interrupted it.
  bool add_missing(DryRun dry_run, PlannedCase& result) {
    dry_run.overcommit = true;
    const DryAttempt unlimited = attempt(dry_run, request_);
    if (unlimited.interrupted) return false;
    result.columns["fits"] = "no";
    // A limit of the suite's own, inside the memory, is not lifted.
    if (unlimited.outcome.verdict.status != Status::ok || unlimited.report.is_null()) return true;
    const auto total = unlimited.report.at("total_bytes").get<std::int64_t>();
    const auto peak = unlimited.report.at("peak_device_bytes").get<std::int64_t>();
    result.columns["missing_bytes"] = std::max<std::int64_t>(0, peak - total);
    result.outcome.record = unlimited.outcome.record;
    result.outcome.keeps_figures = true;
    return true;
  }

  /// Where no answer of the dry run hung on the host's pace, all paces give the same. False: the
  /// user interrupted it.
  bool add_bounds(DryRun dry_run, const DryAttempt& estimated, PlannedCase& result) {
    const auto reserved = [](const DryAttempt& one) {
      return one.outcome.record.at("columns").at(kReserved).get<std::int64_t>();
    };
    std::int64_t lower = reserved(estimated);
    std::int64_t upper = lower;
    if (estimated.report.at("undecided_questions") != 0) {
      WorkerRequest request = request_;
      request.body.erase("snapshot");  // the estimated run's own is kept
      for (const DryRun::Host host : {DryRun::Host::slow, DryRun::Host::ahead}) {
        dry_run.host = host;
        const DryAttempt bound = attempt(dry_run, request);
        if (bound.interrupted) return false;
        // A host that is ahead can run out of memory where the estimated one does not.
        if (bound.outcome.verdict.status != Status::ok) continue;
        lower = std::min(lower, reserved(bound));
        upper = std::max(upper, reserved(bound));
      }
    }
    result.columns["run_peak_reserved_lower_bytes"] = lower;
    result.columns["run_peak_reserved_upper_bytes"] = upper;
    return true;
  }

  void add_lower_bound(const DryRun& dry_run, PlannedCase& result) const {
    const bool tf32 = request_.body.at("case").at("train").value("tf32", false);
    const auto bound = step_time_lower_bound_ns(result.outcome.record, dry_run.gpu, tf32);
    if (bound) result.columns["step_time_lower_bound_ns"] = *bound;
  }

  const WorkerRequest& request_;
  const Catalog& catalog_;
  Interrupts& interrupts_;
  const std::function<void(const WorkerProgress&)>& on_progress_;
};

}  // namespace

std::optional<PlannedCase> plan_case(
    const WorkerRequest& request, const DryRun& dry_run, const Catalog& catalog,
    Interrupts& interrupts, const std::function<void(const WorkerProgress&)>& on_progress) {
  return Planner(request, catalog, interrupts, on_progress).plan(dry_run);
}

}  // namespace headroom
