// SPDX-License-Identifier: Apache-2.0
#include "src/runner/case_plan.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "src/gpus/gpu.h"
#include "src/results/columns.h"
#include "src/runner/attempt.h"
#include "src/runner/extremes.h"
#include "src/runner/outcome.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

class CasePlanner {
 public:
  CasePlanner(const WorkerRequest& request, const Catalog& catalog, Interrupts& interrupts,
              const std::function<void(const WorkerProgress&)>& on_progress)
      : request_(request), catalog_(catalog), interrupts_(interrupts), on_progress_(on_progress) {}

  std::optional<CasePlan> plan(const DryRun& dry_run) {
    const DryAttempt estimated = attempt(dry_run, request_);
    if (estimated.interrupted) return std::nullopt;
    if (estimated.report.is_null()) return CasePlan{estimated.outcome, {}};
    CasePlan result{estimated.outcome, {}};
    const Status status = estimated.outcome.verdict.status;
    result.figures.step_time = step_time_of(estimated.report);
    result.figures.context_bytes = estimated.report.at("context_bytes").get<std::int64_t>();
    const auto nccl = estimated.report.at("nccl_bytes").get<std::int64_t>();
    if (nccl > 0) result.figures.nccl_bytes = nccl;
    if (status == Status::out_of_memory) {
      if (!add_missing(dry_run, result)) return std::nullopt;
    } else if (status == Status::ok) {
      result.figures.fits = true;
      if (!add_bounds(dry_run, estimated, result)) return std::nullopt;
    }
    add_lower_bound(dry_run, result);
    return result;
  }

 private:
  DryAttempt attempt(const DryRun& dry_run, const WorkerRequest& request) {
    return attempt_dry(request, dry_run, catalog_, interrupts_, on_progress_);
  }

  /// By how much a case misses the memory: what it takes where there is no end of it. False: the
  /// user interrupted it.
  bool add_missing(DryRun dry_run, CasePlan& result) {
    dry_run.overcommit = true;
    const DryAttempt unlimited = attempt(dry_run, request_);
    if (unlimited.interrupted) return false;
    if (unlimited.report.is_null()) {
      result = {unlimited.outcome, {}};
      return true;
    }
    result.figures.fits = false;
    // A limit of the suite's own, inside the memory, is not lifted.
    if (unlimited.outcome.verdict.status != Status::ok) return true;
    const auto total = unlimited.report.at("total_bytes").get<std::int64_t>();
    const auto peak = unlimited.report.at("peak_device_bytes").get<std::int64_t>();
    result.figures.missing_bytes = std::max<std::int64_t>(0, peak - total);
    result.outcome.record = unlimited.outcome.record;
    result.outcome.keeps_figures = true;
    return true;
  }

  /// Where no answer of the dry run hung on the host's pace, all paces give the same, and so where
  /// no convolution is large. A worker that tells no reserved peak has no bounds of it, and neither
  /// has one that ends badly at one of the extremes. False: the user interrupted it.
  bool add_bounds(const DryRun& dry_run, const DryAttempt& estimated, CasePlan& result) {
    const auto reserved = [](const DryAttempt& attempt) {
      return integer_in(attempt.outcome.record.at("columns"), column::run_peak_reserved_bytes);
    };
    if (!reserved(estimated)) return true;
    std::int64_t lower = *reserved(estimated);
    std::int64_t upper = lower;
    WorkerRequest request = request_;
    request.body.erase("snapshot");  // the estimated run's own is kept
    for (const DryRun& extreme : extremes_of(dry_run, {estimated.report})) {
      const DryAttempt bound = attempt(extreme, request);
      if (bound.interrupted) return false;
      const Status status = bound.outcome.verdict.status;
      // A host that is ahead can run out of memory where the estimated one does not.
      if (status == Status::out_of_memory) continue;
      if (status != Status::ok) return true;  // what it would have been is not known
      lower = std::min(lower, reserved(bound).value_or(lower));
      upper = std::max(upper, reserved(bound).value_or(upper));
    }
    result.figures.run_peak_reserved_lower_bytes = lower;
    result.figures.run_peak_reserved_upper_bytes = upper;
    return true;
  }

  void add_lower_bound(const DryRun& dry_run, CasePlan& result) const {
    const bool tf32 = request_.body.at("case").at("train").value("tf32", false);
    result.figures.step_time_lower_bound_ns =
        step_time_lower_bound_ns(result.outcome.record, dry_run.gpu, tf32);
  }

  const WorkerRequest& request_;
  const Catalog& catalog_;
  Interrupts& interrupts_;
  const std::function<void(const WorkerProgress&)>& on_progress_;
};

/// The precision of the case's fastest products: a bound must not be too high.
dry_run::Precision fastest_precision(const Json& columns, bool tf32) {
  const std::string name = text_in(columns, column::precision);
  if (name.ends_with("bfloat16")) return dry_run::Precision::bfloat16;
  if (name.ends_with("float16")) return dry_run::Precision::float16;
  if (name == "float64") return dry_run::Precision::float64;
  return tf32 ? dry_run::Precision::tensorfloat32 : dry_run::Precision::float32;
}

}  // namespace

std::optional<CasePlan> plan_case(const WorkerRequest& request, const DryRun& dry_run,
                                  const Catalog& catalog, Interrupts& interrupts,
                                  const std::function<void(const WorkerProgress&)>& on_progress) {
  return CasePlanner(request, catalog, interrupts, on_progress).plan(dry_run);
}

std::optional<std::int64_t> step_time_lower_bound_ns(const Json& record, const std::string& gpu,
                                                     bool tf32) {
  const dry_run::Gpu* found = dry_run::find_gpu(gpu);
  const Json& columns = columns_of(record);
  const auto flops = number_in(columns, column::flops_per_step);
  if (found == nullptr || !flops) return std::nullopt;
  const double copied = number_in(columns, column::host_link_bytes_per_step).value_or(0);
  const double sent = number_in(columns, column::collective_bytes_per_step).value_or(0);
  const double nanoseconds =
      1e9 * std::max({*flops / dry_run::peak_flops(*found, fastest_precision(columns, tf32)),
                      copied / (2 * found->host_bytes_per_second),  // both directions at once
                      sent / found->peer_bytes_per_second});
  if (nanoseconds < 0 || nanoseconds >= 0x1p63) return std::nullopt;  // no time
  return static_cast<std::int64_t>(nanoseconds);
}

}  // namespace headroom
