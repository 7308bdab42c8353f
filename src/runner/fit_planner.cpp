// SPDX-License-Identifier: Apache-2.0
#include "src/runner/fit_planner.h"

#include <fcntl.h>
#include <unistd.h>

#include <string_view>
#include <utility>

#include "src/core/error.h"
#include "src/core/file.h"
#include "src/results/columns.h"
#include "src/runner/case_plan.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr auto kNoProgress = [](const WorkerProgress&) {};

constexpr std::string_view kLogTitle = "headroom fit: what its workers print\n";

/// The log of an earlier search is begun anew; any other file is somebody's.
FileDescriptor open_log(const std::filesystem::path& path) {
  make_folders(path.parent_path());
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  FileDescriptor log(uninterrupted([&] { return open(path.c_str(), kFlags, 0666); }));
  if (log.get() < 0) throw_errno(path.string());
  const FileStart start = read_file_start(path.string(), kLogTitle.size());
  if (start.size > 0 && start.bytes != kLogTitle) {
    throw ConfigError(Place{.file = path},
                      "headroom did not make it, and would write its log over it; choose another "
                      "file with --out");
  }
  if (uninterrupted([&] { return ftruncate(log.get(), 0); }) != 0) throw_errno(path.string());
  write_all(log.get(), kLogTitle, path.string());
  return log;
}

/// A figure of a worker's record; 0 where it has none.
std::int64_t figure_of(const Json& record, std::string_view column) {
  return integer_in(columns_of(record), column).value_or(0);
}

/// A number of bytes in the report of a dry run.
std::int64_t bytes_in(const Json& report, const char* name) {
  return report.at(name).get<std::int64_t>();
}

FitPlan unplanned(const Outcome& outcome) {
  FitPlan plan;
  plan.status = outcome.verdict.status;
  plan.reason = outcome.verdict.reason;
  return plan;
}

/// Outside of the allocator.
std::int64_t libraries_bytes(const Json& report) {
  return bytes_in(report, "context_bytes") + bytes_in(report, "nccl_bytes");
}

FitPlan planned(const DryAttempt& attempt) {
  FitPlan plan;
  plan.driver_peak_bytes = libraries_bytes(attempt.report) +
                           figure_of(attempt.outcome.record, column::run_peak_reserved_bytes);
  plan.step_time = step_time_of(attempt.report);
  return plan;
}

}  // namespace

FitPlanner::FitPlanner(const Catalog& catalog, const DryRun& dry_run, std::string worker,
                       const std::filesystem::path& log,
                       std::function<void(const std::string&)> said)
    : catalog_(catalog),
      dry_run_(dry_run),
      worker_(std::move(worker)),
      log_(open_log(log)),
      said_(std::move(said)) {}

FitPlan FitPlanner::plan(const MakeFitCase& make_case, const FitStack& stack, FitSize size) {
  const Case one = make_case(stack, size, /*is_short=*/true);
  auto [plan, could_fit] = plan_without_end(one, stack);
  if (could_fit) {
    const FitPlan limited = plan_limited(make_case(stack, size, /*is_short=*/false));
    if (limited.status != Status::out_of_memory) plan = limited;
  }
  said_(stack.name + ", " + describe(size) + ": " + describe(plan));
  return plan;
}

FitPlanner::WithoutEnd FitPlanner::plan_without_end(const Case& one, const FitStack& stack) {
  const DryAttempt free = attempt(one, /*overcommit=*/true);
  if (free.outcome.verdict.status != Status::ok) return {unplanned(free.outcome), false};
  const Json& record = free.outcome.record;
  const std::int64_t libraries = libraries_bytes(free.report);
  memory_bytes_ = bytes_in(free.report, "total_bytes");
  FitPlan plan = planned(free);
  if (plan.driver_peak_bytes <= memory_bytes_) return {plan, false};
  plan.status = Status::out_of_memory;
  plan.missing_bytes = plan.driver_peak_bytes - memory_bytes_;
  // Gradients are as large as the weights, or a rank's part of them, and all there at once unless
  // an update in backward frees each, which is what can't accumulate.
  const std::int64_t weights = figure_of(record, column::peak_weights_bytes);
  plan.never_fits = libraries + weights + (stack.accumulates() ? weights / one.ranks() : 0) +
                        figure_of(record, column::peak_optimizer_state_bytes) >
                    memory_bytes_;
  return {plan, libraries + figure_of(record, column::run_peak_allocated_bytes) <= memory_bytes_};
}

FitPlan FitPlanner::plan_limited(const Case& one) {
  const DryAttempt limited = attempt(one, /*overcommit=*/false);
  if (limited.outcome.verdict.status != Status::ok) return unplanned(limited.outcome);
  return planned(limited);
}

FitPlan FitPlanner::verify(const MakeFitCase& make_case, const FitStack& stack, FitSize size) {
  FitPlan plan = plan_limited(make_case(stack, size, /*is_short=*/false));
  said_("as written: " + stack.name + ", " + describe(size) + ": " + describe(plan));
  return plan;
}

std::string FitPlanner::why_not_built(const Case& one) {
  const Verdict verdict = attempt(one, /*overcommit=*/true).outcome.verdict;
  if (verdict.status == Status::unsupported) throw Unsupported(verdict.reason);
  if (verdict.status == Status::ok) return "";
  return std::string(enum_name(verdict.status)) + ": " + verdict.reason;
}

DryAttempt FitPlanner::attempt(const Case& one, bool overcommit) {
  DryRun dry_run = dry_run_;
  dry_run.overcommit = overcommit;
  DryAttempt result = attempt_dry(measure_request(worker_, "cuda", one, catalog_, log_.get()),
                                  dry_run, catalog_, interrupts_, kNoProgress);
  if (result.interrupted || interrupts_.count() > 0) throw PlanInterrupted();
  return result;
}

}  // namespace headroom
