// SPDX-License-Identifier: Apache-2.0
#include "src/cli/fit_planner.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "src/cli/ask_worker.h"
#include "src/cli/command_line.h"
#include "src/cli/output.h"
#include "src/core/error.h"
#include "src/core/text.h"
#include "src/results/columns.h"
#include "src/runner/measure_request.h"
#include "src/runner/step_time_bound.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr auto kNoProgress = [](const WorkerProgress&) {};

FileDescriptor open_log(const std::filesystem::path& path) {
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path());
  FileDescriptor log(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666));
  if (log.get() < 0) throw std::system_error(errno, std::generic_category(), path.string());
  return log;
}

std::int64_t integer(const Json& record, std::string_view column) {
  return columns_of(record).value(column, std::int64_t{0});
}

std::int64_t member(const Json& report, const char* name) {
  return report.at(name).get<std::int64_t>();
}

FitPlan unplanned(const Outcome& outcome) {
  FitPlan plan;
  plan.status = outcome.verdict.status;
  plan.reason = outcome.verdict.reason;
  return plan;
}

[[noreturn]] void end_interrupted() { throw NoAnswer(kInterrupted, "interrupted"); }

}  // namespace

FitPlanRunner::FitPlanRunner(const Catalog& catalog, const DryRun& dry_run,
                             const std::filesystem::path& log)
    : catalog_(catalog), dry_run_(dry_run), worker_(worker_path()), log_(open_log(log)) {}

FitPlan FitPlanRunner::plan(const FitSuite& suite, const FitStack& stack, FitSize size) {
  const Case one = suite.make_case(stack, size, /*is_short=*/true);
  auto [plan, could_fit] = plan_without_end(one, stack);
  if (could_fit) {
    const FitPlan limited = plan_limited(suite.make_case(stack, size, /*is_short=*/false));
    if (limited.status != Status::out_of_memory) plan = limited;
  }
  say(stack.name + ", " + describe(size) + ": " + describe(plan));
  return plan;
}

FitPlanRunner::WithoutEnd FitPlanRunner::plan_without_end(const Case& one, const FitStack& stack) {
  const DryAttempt free = attempt(one, /*overcommit=*/true);
  if (free.outcome.verdict.status != Status::ok || free.report.is_null()) {
    return {unplanned(free.outcome), false};
  }
  const Json& record = free.outcome.record;
  const std::int64_t context = member(free.report, "context_bytes");
  memory_bytes_ = member(free.report, "total_bytes");
  FitPlan plan = planned(one, free);
  if (plan.driver_peak_bytes <= memory_bytes_) return {plan, false};
  plan.status = Status::out_of_memory;
  plan.missing_bytes = plan.driver_peak_bytes - memory_bytes_;
  // Gradients are as large as the weights, or a rank's part of them, and all there at once unless
  // an update in backward frees each, which is what can't accumulate.
  const std::int64_t weights = integer(record, column::peak_weights_bytes);
  plan.never_fits = context + weights + (stack.accumulates() ? weights / one.ranks() : 0) +
                        integer(record, column::peak_optimizer_state_bytes) >
                    memory_bytes_;
  return {plan, context + integer(record, column::run_peak_allocated_bytes) <= memory_bytes_};
}

FitPlan FitPlanRunner::plan_limited(const Case& one) {
  const DryAttempt limited = attempt(one, /*overcommit=*/false);
  if (limited.outcome.verdict.status != Status::ok || limited.report.is_null()) {
    return unplanned(limited.outcome);
  }
  return planned(one, limited);
}

FitPlan FitPlanRunner::planned(const Case& one, const DryAttempt& attempt) const {
  FitPlan plan;
  plan.driver_peak_bytes = member(attempt.report, "context_bytes") +
                           integer(attempt.outcome.record, column::run_peak_reserved_bytes);
  plan.step_time_lower_bound_ns = step_time_lower_bound_ns(attempt.outcome.record, dry_run_.gpu,
                                                           one.find("train.tf32")->get<bool>());
  return plan;
}

FitPlan FitPlanRunner::verify(const FitSuite& suite, const FitStack& stack, FitSize size) {
  FitPlan plan = plan_limited(suite.make_case(stack, size, /*is_short=*/false));
  say("as written: " + stack.name + ", " + describe(size) + ": " + describe(plan));
  return plan;
}

std::string FitPlanRunner::why_not_built(const Case& one) {
  const Verdict verdict = attempt(one, /*overcommit=*/true).outcome.verdict;
  if (verdict.status == Status::unsupported) throw Unsupported(verdict.reason);
  if (verdict.status == Status::ok) return "";
  return std::string(enum_name(verdict.status)) + ": " + verdict.reason;
}

DryAttempt FitPlanRunner::attempt(const Case& one, bool overcommit) {
  DryRun dry_run = dry_run_;
  dry_run.overcommit = overcommit;
  DryAttempt result = attempt_dry(request(one), dry_run, catalog_, interrupts_, kNoProgress);
  if (result.interrupted || interrupts_.count() > 0) end_interrupted();
  return result;
}

WorkerRequest FitPlanRunner::request(const Case& one) const {
  return measure_request(worker_, "cuda", one, catalog_, log_.get());
}

std::string describe(FitSize size) {
  if (size.micro_batches == 1) return fmt::format("batch {}", size.batch_size);
  return fmt::format("batch {} in {} micro-batches", size.batch_size, size.micro_batches);
}

std::string describe(const FitPlan& plan) {
  if (plan.fits()) return "fits, " + format_bytes(plan.driver_peak_bytes);
  if (plan.missing_bytes > 0) return "misses by " + format_bytes(plan.missing_bytes);
  return std::string(enum_name(plan.status)) + ": " + plan.reason;
}

}  // namespace headroom
