// SPDX-License-Identifier: Apache-2.0
#include "src/runner/suite_run.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <ctime>
#include <map>
#include <optional>
#include <system_error>

#include "src/core/checksum.h"
#include "src/core/error.h"
#include "src/core/file.h"
#include "src/results/journal.h"
#include "src/results/network_file_system.h"
#include "src/results/results.h"
#include "src/results/results_folder.h"
#include "src/runner/attempt.h"
#include "src/runner/case_plan.h"
#include "src/runner/environment_check.h"
#include "src/runner/library_files.h"
#include "src/runner/program_file.h"
#include "src/runner/reference.h"
#include "src/runner/row_of_case.h"
#include "src/runner/sleep_of_machine.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kStopped = "; what is done is kept, and --resume goes on from there";
constexpr std::chrono::seconds kPatience{10};  // with a reader of what could not be kept

/// The worker, then what is loaded before it where cases are planned.
std::vector<ProgramFile> programs_of(const SuiteRunOptions& options) {
  std::vector<ProgramFile> programs;
  programs.emplace_back(options.worker);
  if (!options.dry_run) return programs;
  for (const std::string& file : dry_run_files(options.dry_run->libraries))
    programs.emplace_back(file);
  return programs;
}

void add_reason(const std::string& text, Verdict& verdict) {
  if (text.empty()) return;
  verdict.reason += (verdict.reason.empty() ? "" : "; ") + text;
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
        libraries_(options.worker),
        folder_(options.folder),
        journal_(folder_.journal()),
        facts_{.suite = suite.name,
               .device = options.device,
               .is_planned = !options.measures,
               .commit = catalog.commit,
               .environment = environment_of(catalog)} {
    const Json header = header_of_run();
    warn_of_locks();
    if (journal_.cut_bytes() > 0) {
      observer_.said(folder_.journal() + ": cut off the last " +
                     std::to_string(journal_.cut_bytes()) + " bytes, a record torn by a kill");
    }
    if (journal_.records().empty()) {
      folder_.make_ready();
      journal_.append(header);
    } else {
      go_on(header);
      folder_.make_ready();
      take_published_figures();
    }
    folder_.replace(kSuiteFile, suite.effective_yaml);
    write_results();
  }

  SuiteRunResult run() {
    std::vector<const Case*> selected;
    for (const Case& one : suite_.cases) {
      if (options_.selects(one)) selected.push_back(&one);
    }
    SuiteRunResult result;
    const auto goes_on = [&] { return !result.interrupted && result.lost.empty(); };
    for (std::size_t i = 0; i < selected.size() && goes_on(); ++i) {
      if (find_row(*selected[i]) != nullptr) continue;
      observer_.case_started(i, selected.size(), *selected[i]);
      result.interrupted = !run_case(*selected[i]) || interrupts_.count() > 0;
      if (options_.agents != nullptr) result.lost = options_.agents->lost();
    }
    for (const Case* one : selected) {
      const auto done = done_.find(one->name);
      if (done == done_.end()) continue;
      result.rows.push_back(done->second.row);
      const std::vector<Json>& records = done->second.rank_records;
      if (!records.empty()) result.rows.back()["rank_rows"] = make_rank_rows(catalog_, records);
    }
    return result;
  }

 private:
  /// What came of a case.
  struct Done {
    Row row;
    std::vector<Json> rank_records;  // empty: there was one process
  };

  Json header_of_run() const {
    // Plans for two GPUs must not be mixed either.
    const std::string& device = options_.measures ? options_.device : options_.dry_run->gpu;
    Json header = make_header(suite_, catalog_, kind_of(facts_), device, programs_.front().hash());
    std::string libraries;
    for (std::size_t i = 1; i < programs_.size(); ++i) libraries += programs_[i].hash();
    if (!libraries.empty()) header[kDryRunKey] = fingerprint(libraries);
    return header;
  }

  void warn_of_locks() const {
    const std::string file_system = network_file_system(folder_.path());
    if (file_system.empty()) return;
    observer_.said(folder_.path().string() + " is on " + file_system +
                   ", whose locks may hold for one machine only: nothing keeps a headroom on "
                   "another machine from this folder");
  }

  /// Takes in what an earlier run left, so that this one goes on with it.
  void go_on(const Json& header) {
    if (!options_.resume) {
      throw ConfigError(folder_.path().string() +
                        ": there are results in this folder already; --resume goes on with them, "
                        "--out names another folder");
    }
    const Results results = make_results(journal_.records(), folder_.journal());
    const std::string difference = header_difference(results.header, header);
    if (!difference.empty()) {
      throw ResultsError(folder_.journal() + ": these results can't be continued: " + difference +
                         "; choose another folder with --out");
    }
    for (const CaseResult& one : results.cases) done_[one.name] = {one.row, one.rank_records};
  }

  /// The suite may have other published figures by now: rows that are done stand beside them too.
  void take_published_figures() {
    for (const Case& one : suite_.cases) {
      const auto done = done_.find(one.name);
      if (done == done_.end()) continue;
      Row row = with_published(catalog_, done->second.row, one);
      if (row == done->second.row) continue;
      journal_.append({{"case", one.name}, {"row", row}});
      done->second.row = std::move(row);
    }
  }

  void check_programs() {
    for (ProgramFile& program : programs_) program.check_is_the_same();
    libraries_.check_are_the_same();
  }

  const Row* find_row(const Case& one) const {
    const auto done = done_.find(one.name);
    return done == done_.end() ? nullptr : &done->second.row;
  }

  /// False: the user interrupted it, and it has no row.
  bool run_case(const Case& one) {
    check_programs();
    folder_.check_room();
    CaseFacts facts;
    facts.started_at = utc_now();
    const SleepOfMachine sleep;
    Row row;
    try {
      if (const auto why = why_impossible(one)) {
        facts.outcome.verdict = {Status::unsupported, *why};
      } else if (!(options_.measures ? measure(one, facts) : plan(one, facts))) {
        return false;
      }
      add_reason(sleep.text(), facts.outcome.verdict);
      row = row_of(one, facts);
      keep(one, row, facts.outcome);
    } catch (...) {
      hand_over(one, row, facts.outcome);
      throw;
    }
    observer_.case_ended(row);
    const auto why = why_last(one, facts.outcome.verdict.status);
    if (why) throw Unsupported(one.name + ": " + *why + kStopped);
    return true;
  }

  /// Why no further case can be measured behind this one. Nothing: it can.
  std::optional<std::string> why_last(const Case& one, Status status) {
    if (!unended_.empty()) {
      return "its process " + std::to_string(unended_.front()) +
             " could not be ended, and what is measured beside it would not be alone on " +
             options_.device;
    }
    const bool may_have_broken_gpu =
        status == Status::crashed || status == Status::failed || status == Status::timeout;
    if (!options_.measures || options_.device != "cuda" || !may_have_broken_gpu)
      return std::nullopt;
    const FileDescriptor log = folder_.open_log(one.name + ".probe");
    return why_gpus_do_not_work(options_.worker, log.get(), interrupts_);
  }

  /// Fills in the verdict by the case's reference as well.
  Row row_of(const Case& one, CaseFacts& facts) const {
    Row row = make_row(catalog_, facts_, one, facts);
    if (facts.outcome.verdict.status != Status::ok) return row;
    facts.outcome.verdict = check_against_reference(
        catalog_, suite_, one, row, [this](const Case& other) { return find_row(other); });
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

  /// Fills in what came of the case. False: the user interrupted it.
  bool measure(const Case& one, CaseFacts& facts) {
    const auto attempt = start_ranks(one);
    if (attempt.interrupted) return false;
    facts.outcome = attempt.outcome;
    unended_ = attempt.unended;
    if (!options_.dry_run) return true;
    const FileDescriptor plan_log = folder_.open_log(one.name + ".plan");
    WorkerRequest dry = request(one, plan_log);
    dry.body.erase("snapshot");  // the measurement's own is kept
    try {
      const auto planned = plan_case(dry, *options_.dry_run, catalog_, interrupts_, on_progress_);
      if (!planned) return false;
      facts.planned = columns_of(planned->outcome.record);
    } catch (const std::system_error& error) {
      observer_.said(one.name + " has no plan: " + error.what());  // what was measured stands
    }
    check_programs();
    return true;
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
    check_programs();
    return true;
  }

  WorkerRequest request(const Case& one, const FileDescriptor& log, std::size_t rank = 0) const {
    WorkerRequest request =
        measure_request(options_.worker, options_.device, one, catalog_, log.get());
    if (options_.snapshots) request.body["snapshot"] = folder_.snapshot_path(one.name, rank);
    return request;
  }

  Json entry_of(const Case& one, const Row& row, const Outcome& outcome) const {
    Json entry = {{"case", one.name},
                  {"gate", one.gate},
                  {"environment", facts_.environment},
                  {"row", row},
                  {"record", outcome.record}};
    if (!outcome.rank_records.empty()) entry["rank_records"] = outcome.rank_records;
    return entry;
  }

  void keep(const Case& one, const Row& row, const Outcome& outcome) {
    journal_.append(entry_of(one, row, outcome));
    done_[one.name] = {row, outcome.rank_records};
    write_results();
  }

  /// The measurement may have taken hours: where something fails behind it, the user gets it on
  /// standard error.
  void hand_over(const Case& one, const Row& row, const Outcome& outcome) const {
    if (row.is_null() && outcome.record.is_null()) return;  // it was not measured
    const std::string text =
        entry_of(one, row, outcome).dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
    try_write(STDERR_FILENO, text, kPatience);
  }

  /// In the order of the journal's suite: the one of an earlier run may have had another.
  void write_results() const {
    std::vector<Row> rows;
    for (const auto& [name, work] : journal_.records().front().at("cases").items()) {
      const auto done = done_.find(name);
      if (done != done_.end()) rows.push_back(done->second.row);
    }
    folder_.replace(kResultsFile, rows_to_csv(catalog_, rows));
  }

  const Catalog& catalog_;
  const Suite& suite_;
  const SuiteRunOptions& options_;
  Interrupts& interrupts_;
  SuiteRunObserver& observer_;
  std::vector<ProgramFile> programs_;
  const LibraryFiles libraries_;  // of the worker
  ResultsFolder folder_;
  Journal journal_;
  const RunFacts facts_;
  const std::function<void(const WorkerProgress&)> on_progress_ =
      [this](const WorkerProgress& progress) { observer_.case_progressed(progress); };
  std::map<std::string, Done> done_;  // by the case's name
  std::vector<pid_t> unended_;        // workers of the last case that is done
};

}  // namespace

SuiteRunResult run_suite(const Catalog& catalog, const Suite& suite, const SuiteRunOptions& options,
                         Interrupts& interrupts, SuiteRunObserver& observer) {
  check_environment(environment_variables());
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
