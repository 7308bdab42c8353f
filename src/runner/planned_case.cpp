// SPDX-License-Identifier: Apache-2.0
#include "src/runner/planned_case.h"

#include <algorithm>
#include <array>

#include "src/dry_run/gpu.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kReserved = "run_peak_reserved_bytes";

/// The precision of the case's fastest products: a bound must not be too high.
dry_run::Precision fastest_precision(const Json& columns, bool tf32) {
  const std::string name = columns.value("precision", "");
  if (name.ends_with("bfloat16")) return dry_run::Precision::bfloat16;
  if (name.ends_with("float16")) return dry_run::Precision::float16;
  if (name == "float64") return dry_run::Precision::float64;
  return tf32 ? dry_run::Precision::tensorfloat32 : dry_run::Precision::float32;
}

/// One run of the worker.
struct Attempt {
  bool interrupted = false;
  Outcome outcome;
  Json report;  // of the dry run; null: the process came to no end of its own
};

class Planner {
 public:
  Planner(const WorkerRequest& request, const Catalog& catalog, Interrupts& interrupts,
          const std::function<void(const WorkerProgress&)>& on_progress)
      : request_(request), catalog_(catalog), interrupts_(interrupts), on_progress_(on_progress) {}

  std::optional<PlannedCase> plan(const DryRun& dry_run) {
    const Attempt estimated = attempt(dry_run, request_);
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
  Attempt attempt(const DryRun& dry_run, WorkerRequest request) {
    const ReportFolder reports;
    request.environment = dry_run_environment(dry_run, reports.path());
    request.body["planned"] = true;
    const WorkerReply reply = call_worker(request, interrupts_, on_progress_);
    Attempt result;
    result.interrupted = reply.ending == WorkerReply::Ending::interrupted;
    result.outcome = outcome_of(reply, catalog_);
    const std::vector<Json> all = reports.read();
    if (!all.empty()) result.report = all.front();
    return result;
  }

  static Json columns_of(const Json& report) {
    if (report.is_null()) return Json::object();
    return {{"context_bytes", report.at("context_bytes")}};
  }

  /// By how much a case misses the memory: what it takes where there is no end of it. False: the
  /// user interrupted it.
  bool add_missing(DryRun dry_run, PlannedCase& result) {
    dry_run.overcommit = true;
    const Attempt unlimited = attempt(dry_run, request_);
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
  bool add_bounds(DryRun dry_run, const Attempt& estimated, PlannedCase& result) {
    const auto reserved = [](const Attempt& one) {
      return one.outcome.record.at("columns").at(kReserved).get<std::int64_t>();
    };
    std::int64_t lower = reserved(estimated);
    std::int64_t upper = lower;
    if (estimated.report.at("undecided_questions") != 0) {
      WorkerRequest request = request_;
      request.body.erase("snapshot");  // the estimated run's own is kept
      for (const DryRun::Host host : {DryRun::Host::slow, DryRun::Host::ahead}) {
        dry_run.host = host;
        const Attempt bound = attempt(dry_run, request);
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
    const dry_run::Gpu* gpu = dry_run::find_gpu(dry_run.gpu);
    const Json& record = result.outcome.record;
    if (gpu == nullptr || !record.is_object() || !record.contains("columns")) return;
    const Json& columns = record["columns"];
    if (!columns.contains("flops_per_step")) return;
    const double flops = columns["flops_per_step"].get<double>();
    const double copied = columns.value("host_link_bytes_per_step", 0.0);
    const bool tf32 = request_.body.at("case").at("train").value("tf32", false);
    const double seconds =
        std::max(flops / dry_run::peak_flops(*gpu, fastest_precision(columns, tf32)),
                 copied / (2 * gpu->host_bytes_per_second));  // both directions at once
    result.columns["step_time_lower_bound_ns"] = static_cast<std::int64_t>(seconds * 1e9);
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
