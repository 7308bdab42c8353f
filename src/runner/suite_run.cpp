// SPDX-License-Identifier: Apache-2.0
#include "src/runner/suite_run.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <exception>
#include <list>
#include <optional>
#include <system_error>
#include <utility>

#include "src/core/error.h"
#include "src/core/text.h"
#include "src/results/last_run.h"
#include "src/results/network_file_system.h"
#include "src/runner/attempt.h"
#include "src/runner/case_plan.h"
#include "src/runner/case_queue.h"
#include "src/runner/environment_check.h"
#include "src/runner/forks.h"
#include "src/runner/kept_results.h"
#include "src/runner/reference.h"
#include "src/runner/row_of_case.h"
#include "src/runner/run_programs.h"
#include "src/runner/sleep_of_machine.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kStopped = "; what is done is kept, and --resume goes on from there";

RunPrograms programs_of(const SuiteRunOptions& options) {
  RunPrograms programs(options.worker, options.dry_run);
  if (options.agents != nullptr && options.agents->worker() != programs.worker_hash()) {
    throw ResultsError(options.worker +
                       ": it is not the program any more that all ranks had when "
                       "they met, and results of two must not be mixed");
  }
  return programs;
}

class SuiteRun {
 public:
  SuiteRun(const Catalog& catalog, const Suite& suite, const SuiteRunOptions& options,
           Interrupts& interrupts, SuiteRunObserver& observer)
      : catalog_(catalog),
        suite_(suite),
        options_(options),
        interrupts_(interrupts),
        observer_(observer),
        programs_(programs_of(options)),
        facts_{
            .suite = suite.name,
            .device = options.device,
            .is_planned = !options.measures,
            .commit = catalog.commit,
            .environment = environment_of(catalog, options.dry_run ? &*options.dry_run : nullptr)},
        results_(catalog, suite, options.folder, facts_.environment) {
    const Json header = header_of_run();
    warn_of_locks();
    if (results_.cut_bytes() > 0) {
      observer_.said(folder_.journal() + ": cut off the last " +
                     std::to_string(results_.cut_bytes()) + " bytes, a record torn by a kill");
    }
    results_.begin(header, options.resume);
    if (!options.runs.empty()) remember_last_run(folder_.path(), options.runs);
  }

  SuiteRunResult run() {
    std::vector<const Case*> selected;
    for (const Case& one : suite_.cases) {
      if (options_.selects(one)) selected.push_back(&one);
    }
    SuiteRunResult result;
    if (is_on_many_gpus()) {
      const std::string gpus = std::to_string(options_.gpus.size());
      observer_.said("memory_only: cases are measured on " + gpus + " GPUs at once");
    }
    if (options_.jobs > 1 || is_on_many_gpus()) {
      run_at_once(selected, result);
    } else {
      run_in_turn(selected, result);
    }
    for (const Case* one : selected) {
      if (auto row = results_.row_with_ranks(*one)) result.rows.push_back(std::move(*row));
    }
    return result;
  }

 private:
  Json header_of_run() const {
    // Plans for two GPUs must not be mixed either.
    const std::string& device = options_.measures ? options_.device : options_.dry_run->gpu;
    Json header = make_header(suite_, catalog_, kind_of(facts_), device, programs_.worker_hash());
    programs_.add_to(header);
    return header;
  }

  void warn_of_locks() const {
    const std::string file_system = network_file_system(folder_.path());
    if (file_system.empty()) return;
    observer_.said(folder_.path().string() + " is on " + file_system +
                   ", whose locks may hold for one machine only: nothing keeps a headroom on "
                   "another machine from this folder");
  }

  void run_in_turn(const std::vector<const Case*>& selected, SuiteRunResult& result) {
    const auto goes_on = [&] { return !result.interrupted && result.lost.empty(); };
    for (std::size_t i = 0; i < selected.size() && goes_on(); ++i) {
      if (results_.find_row(*selected[i]) != nullptr) continue;
      observer_.case_started(i, selected.size(), *selected[i]);
      result.interrupted = !run_case(*selected[i]) || interrupts_.count() > 0;
      if (options_.agents != nullptr) result.lost = options_.agents->lost();
    }
  }

  bool is_on_many_gpus() const {
    return options_.measures && suite_.memory_only && options_.gpus.size() > 1;
  }

  /// Does as many cases beside one another as there are jobs, or GPUs, each in a copy of this
  /// process, and keeps each as it ends.
  void run_at_once(const std::vector<const Case*>& selected, SuiteRunResult& result) {
    CaseQueue queue = queue_of(selected);
    Forks forks(interrupts_);
    std::exception_ptr error;
    for (;;) {
      try {
        while (const auto start = queue.start()) {
          const Case& one = *selected[start->piece];
          observer_.case_started(start->piece, selected.size(), one);
          forks.start(start->piece, [&] { return do_in_copy(one, start->places); });
        }
        if (forks.size() == 0) break;
        const auto [piece, done] = forks.wait();
        queue.end(piece);
        observer_.case_started(piece, selected.size(), *selected[piece]);
        result.interrupted |= done.is_null();
        if (!done.is_null()) keep_done(*selected[piece], done);
      } catch (...) {
        if (!error) error = std::current_exception();
        queue.stop();
      }
      result.interrupted |= forks.was_interrupted();
      if (result.interrupted) queue.stop();  // those at work may still end well
    }
    if (error) std::rethrow_exception(error);
  }

  /// Of the selected cases that are not done. No plan depends on what another says; what is
  /// measured does on its reference, as in run_in_turn().
  CaseQueue queue_of(const std::vector<const Case*>& selected) const {
    std::list<QueuedCase> cases;
    for (std::size_t i = 0; i < selected.size(); ++i) {
      const Case* one = selected[i];
      if (results_.find_row(*one) != nullptr) continue;
      cases.push_back({.one = one, .piece = i});
      if (!options_.measures) continue;
      const Case* reference = reference_of(catalog_, suite_, *one);
      const bool is_before = reference != nullptr && reference < one;  // in the suite
      if (is_before) cases.back().reference = reference;
      cases.back().places = std::min(static_cast<std::size_t>(one->ranks()), options_.gpus.size());
    }
    return {std::move(cases), options_.measures ? options_.gpus.size() : options_.jobs};
  }

  /// Null: the user interrupted it.
  Json do_in_copy(const Case& one, const std::vector<std::size_t>& places) {
    if (options_.measures) see_only(one, places);
    CaseFacts facts;
    const auto row = do_case(one, facts);
    if (!row) return {};
    const Outcome& outcome = facts.outcome;
    Json done = {{"row", *row}, {"record", outcome.record}, {"rank_records", outcome.rank_records}};
    if (const auto why = why_last(one, outcome.verdict.status)) done["why_last"] = *why;
    return done;
  }

  /// A case with more ranks than there are GPUs has all of them, and sees what it would alone.
  void see_only(const Case& one, const std::vector<std::size_t>& places) const {
    if (static_cast<std::size_t>(one.ranks()) > places.size()) return;
    std::vector<std::string> names;
    for (const std::size_t place : places) names.push_back(options_.gpus[place]);
    restrict_to_gpus(names, options_.gpus.size());
  }

  void keep_done(const Case& one, const Json& done) {
    Outcome outcome;
    outcome.record = done.at("record");
    outcome.rank_records = done.at("rank_records");
    keep(one, done.at("row"), outcome);
    if (done.contains("why_last")) end_behind(one, done["why_last"]);
  }

  [[noreturn]] static void end_behind(const Case& one, const std::string& why) {
    throw Unsupported(one.name + ": " + why + kStopped);
  }

  void keep(const Case& one, const Row& row, const Outcome& outcome) {
    try {
      results_.keep(one, row, outcome);
    } catch (...) {
      results_.hand_over(one, row, outcome);
      throw;
    }
    observer_.case_ended(row);
  }

  /// False: the user interrupted it, and it has no row.
  bool run_case(const Case& one) {
    CaseFacts facts;
    const auto row = do_case(one, facts);
    if (!row) return false;
    keep(one, *row, facts.outcome);
    const auto why = why_last(one, facts.outcome.verdict.status);
    if (why) end_behind(one, *why);
    return true;
  }

  /// Fills in what came of the case, and gives its row. Nothing: the user interrupted it.
  std::optional<Row> do_case(const Case& one, CaseFacts& facts) {
    programs_.check_are_the_same();
    folder_.check_room();
    facts.started_at = utc_now();
    const SleepOfMachine sleep;
    Row row;
    try {
      if (const auto why = why_impossible(one)) {
        facts.outcome.verdict = {Status::unsupported, *why};
      } else if (!(options_.measures ? measure(one, facts) : plan(one, facts))) {
        return std::nullopt;
      }
      std::string& reason = facts.outcome.verdict.reason;
      reason = join_reasons(reason, sleep.text());
      row = row_of(one, facts);
    } catch (...) {
      results_.hand_over(one, row, facts.outcome);
      throw;
    }
    return row;
  }

  /// Why no further case can be measured behind this one. Nothing: it can.
  std::optional<std::string> why_last(const Case& one, Status status) {
    if (!unended_.empty()) {
      return unended_text() + ", and what is measured beside it would not be alone on " +
             options_.device;
    }
    const bool may_have_broken_gpu =
        status == Status::crashed || status == Status::failed || status == Status::timeout;
    if (!options_.measures || options_.device != "cuda" || !may_have_broken_gpu)
      return std::nullopt;
    const FileDescriptor log = folder_.open_log(one.name + ".probe");
    return why_gpus_do_not_work(options_.worker, one.ranks(), log.get(), interrupts_);
  }

  std::string unended_text() const {
    return "its process " + std::to_string(unended_.front()) + " could not be ended";
  }

  /// Fills in the verdict by the case's reference as well.
  Row row_of(const Case& one, CaseFacts& facts) const {
    Row row = make_row(catalog_, facts_, one, facts);
    if (facts.outcome.verdict.status != Status::ok) return row;
    facts.outcome.verdict = check_against_reference(
        catalog_, suite_, one, row, [this](const Case& other) { return results_.find_row(other); });
    return make_row(catalog_, facts_, one, facts);
  }

  std::optional<std::string> why_impossible(const Case& one) const {
    if (auto why = why_unsupported(one, catalog_)) return why;
    if (options_.agents == nullptr) return std::nullopt;
    const Launch& launch = options_.agents->launch();
    if (one.ranks() <= launch.ranks) return std::nullopt;
    return std::to_string(one.ranks()) + " ranks are more than the " +
           std::to_string(launch.ranks) + " that " + launch.launcher + " started";
  }

  /// Looks once more when the worker first speaks, or has ended: it may have been replaced between
  /// the last look and its start. What is replaced later does not change this case.
  void check_started() {
    if (!std::exchange(is_started_checked_, true)) programs_.check_are_the_same();
  }

  /// Fills in what came of the case. False: the user interrupted it.
  bool measure(const Case& one, CaseFacts& facts) {
    is_started_checked_ = false;
    const auto attempt = start_ranks(one);
    unended_ = attempt.unended;
    if (attempt.interrupted) {
      if (!unended_.empty()) observer_.said(one.name + ": " + unended_text());
      return false;
    }
    check_started();
    facts.outcome = attempt.outcome;
    if (suite_.memory_only) drop_times(facts.outcome, catalog_);
    if (options_.dry_run) plan_beside(one, facts);
    return true;
  }

  /// Fills in what the case's plan says. Where there is none, what was measured stands.
  void plan_beside(const Case& one, CaseFacts& facts) {
    const FileDescriptor plan_log = folder_.open_log(one.name + ".plan");
    WorkerRequest dry = request(one, plan_log);
    dry.body.erase("snapshot");  // the measurement's own is kept
    try {
      const auto planned = plan_case(dry, *options_.dry_run, catalog_, interrupts_, on_progress_);
      if (planned) {
        facts.planned = columns_of(planned->outcome.record);
      } else {
        observer_.said(one.name + " has no plan: interrupted");
      }
    } catch (const std::system_error& error) {
      observer_.said(one.name + " has no plan: " + error.what());
    }
    programs_.check_are_the_same();
  }

  RankAttempt start_ranks(const Case& one) {
    try {
      std::vector<FileDescriptor> logs;
      std::vector<WorkerRequest> requests;
      for (std::size_t rank = 0; rank < static_cast<std::size_t>(one.ranks()); ++rank) {
        logs.push_back(folder_.open_log(one.name, rank));
        requests.push_back(request(one, logs.back(), rank));
      }
      return attempt_ranks(std::move(requests), options_.agents, catalog_, interrupts_,
                           on_progress_);
    } catch (const std::system_error& error) {
      // How many files a process may open is a limit that stays, and more ranks need more. All else
      // may be there again in a moment: the run ends, and --resume tries the case again.
      if (error.code() != std::errc::too_many_files_open) throw;
      RankAttempt none;
      none.outcome.verdict = {Status::unsupported, std::to_string(one.ranks()) +
                                                       " ranks can't be started: " + error.what()};
      return none;
    }
  }

  bool plan(const Case& one, CaseFacts& facts) {
    const FileDescriptor log = folder_.open_log(one.name);
    const auto planned =
        plan_case(request(one, log), *options_.dry_run, catalog_, interrupts_, on_progress_);
    if (!planned) return false;
    facts.outcome = planned->outcome;
    if (one.ranks() > 1) facts.outcome.peak_rank = 0;  // the one that is planned
    facts.plan = planned->figures;
    programs_.check_are_the_same();
    return true;
  }

  WorkerRequest request(const Case& one, const FileDescriptor& log, std::size_t rank = 0) const {
    WorkerRequest request =
        measure_request(options_.worker, options_.device, one, catalog_, log.get());
    if (options_.snapshots) request.body["snapshot"] = folder_.snapshot_path(one.name, rank);
    return request;
  }

  const Catalog& catalog_;
  const Suite& suite_;
  const SuiteRunOptions& options_;
  Interrupts& interrupts_;
  SuiteRunObserver& observer_;
  RunPrograms programs_;
  const RunFacts facts_;
  KeptResults results_;
  const ResultsFolder& folder_ = results_.folder();
  const std::function<void(const WorkerProgress&)> on_progress_ =
      [this](const WorkerProgress& progress) {
        check_started();
        observer_.case_progressed(progress);
      };
  bool is_started_checked_ = true;  // see check_started()
  std::vector<pid_t> unended_;      // workers of the last case that was measured
};

}  // namespace

SuiteRunResult run_suite(const Catalog& catalog, const Suite& suite, const SuiteRunOptions& options,
                         Interrupts& interrupts, SuiteRunObserver& observer) {
  return SuiteRun(catalog, suite, options, interrupts, observer).run();
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts;
  gmtime_r(&now, &parts);
  std::array<char, 32> text;
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

}  // namespace headroom
