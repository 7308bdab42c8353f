// SPDX-License-Identifier: Apache-2.0
#include "src/runner/suite_run.h"

#include <unistd.h>

#include <array>
#include <ctime>
#include <map>
#include <optional>
#include <system_error>

#include "src/core/error.h"
#include "src/core/file.h"
#include "src/results/journal.h"
#include "src/results/results_folder.h"
#include "src/runner/attempt.h"
#include "src/runner/case_plan.h"
#include "src/runner/reference.h"
#include "src/runner/row_of_case.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

class SuiteRun {
 public:
  SuiteRun(const Catalog& catalog, const Suite& suite, const SuiteRunOptions& options,
           Interrupts& interrupts, SuiteRunObserver& observer)
      : catalog_(catalog),
        suite_(suite),
        options_(options),
        interrupts_(interrupts),
        observer_(observer),
        folder_(options.folder),
        journal_(folder_.journal()),
        facts_{.suite = suite.name,
               .device = options.device,
               .is_planned = !options.measures,
               .commit = catalog.commit,
               .environment = environment_of(catalog)} {
    open_journal();
    folder_.replace("suite.yaml", suite.effective_yaml);
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

  void open_journal() {
    // Plans for two GPUs must not be mixed either.
    const std::string& device = options_.measures ? options_.device : options_.dry_run->gpu;
    const Json header = make_header(suite_, catalog_, kind_of(facts_), device, options_.worker);
    if (journal_.cut_bytes() > 0) {
      observer_.said(folder_.journal() + ": cut off the last " +
                     std::to_string(journal_.cut_bytes()) + " bytes, a record torn by a kill");
    }
    if (journal_.records().empty()) return journal_.append(header);
    if (!options_.resume) {
      throw ConfigError(folder_.path().string() +
                        ": there are results in this folder already; --resume goes on with them, "
                        "--out names another folder");
    }
    check_header(journal_.records().front(), folder_.journal());
    const std::string difference = header_difference(journal_.records().front(), header);
    if (!difference.empty()) {
      throw ResultsError(folder_.journal() + ": these results can't be continued: " + difference +
                         "; choose another folder with --out");
    }
    for (const Json& record : journal_.records()) {
      if (!record.contains("case")) continue;
      done_[record["case"]] = {record.at("row"), record.value("rank_records", std::vector<Json>{})};
    }
  }

  const Row* find_row(const Case& one) const {
    const auto done = done_.find(one.name);
    return done == done_.end() ? nullptr : &done->second.row;
  }

  /// False: the user interrupted it, and it has no row.
  bool run_case(const Case& one) {
    CaseFacts facts;
    facts.started_at = utc_now();
    if (const auto why = why_impossible(one)) {
      facts.outcome.verdict = {Status::unsupported, *why};
    } else if (!(options_.measures ? measure(one, facts) : plan(one, facts))) {
      return false;
    }
    Row row = make_row(catalog_, facts_, one, facts);
    if (facts.outcome.verdict.status == Status::ok) {
      facts.outcome.verdict = check_against_reference(
          catalog_, suite_, one, row, [this](const Case& other) { return find_row(other); });
      row = make_row(catalog_, facts_, one, facts);
    }
    keep(one, row, facts.outcome);
    return true;
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
      if (one.ranks() == 1) throw;  // what one process lacks, every case lacks
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
    return true;
  }

  WorkerRequest request(const Case& one, const FileDescriptor& log, std::size_t rank = 0) const {
    WorkerRequest request =
        measure_request(options_.worker, options_.device, one, catalog_, log.get());
    if (options_.snapshots) request.body["snapshot"] = folder_.snapshot_path(one.name, rank);
    return request;
  }

  void keep(const Case& one, const Row& row, const Outcome& outcome) {
    Json entry = {{"case", one.name},
                  {"gate", one.gate},
                  {"environment", facts_.environment},
                  {"row", row},
                  {"record", outcome.record}};
    if (!outcome.rank_records.empty()) entry["rank_records"] = outcome.rank_records;
    try {
      journal_.append(entry);
    } catch (const std::system_error&) {
      // The measurement may have taken hours: what can't be kept is handed to the user.
      write_all(STDERR_FILENO, entry.dump() + "\n", "standard error");
      throw;
    }
    done_[one.name] = {row, outcome.rank_records};
    write_results();
    observer_.case_ended(row);
  }

  void write_results() const {
    std::vector<Row> rows;
    for (const Case& one : suite_.cases) {
      if (const Row* row = find_row(one)) rows.push_back(*row);
    }
    folder_.replace(kResultsFile, rows_to_csv(catalog_, rows));
  }

  const Catalog& catalog_;
  const Suite& suite_;
  const SuiteRunOptions& options_;
  Interrupts& interrupts_;
  SuiteRunObserver& observer_;
  ResultsFolder folder_;
  Journal journal_;
  const RunFacts facts_;
  const std::function<void(const WorkerProgress&)> on_progress_ =
      [this](const WorkerProgress& progress) { observer_.case_progressed(progress); };
  std::map<std::string, Done> done_;  // by the case's name
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
