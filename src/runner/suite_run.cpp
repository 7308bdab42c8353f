// SPDX-License-Identifier: Apache-2.0
#include "src/runner/suite_run.h"

#include <unistd.h>

#include <map>
#include <optional>
#include <system_error>

#include "src/core/error.h"
#include "src/core/file.h"
#include "src/runner/environment.h"
#include "src/runner/journal.h"
#include "src/runner/journal_header.h"
#include "src/runner/measure_request.h"
#include "src/runner/planned_case.h"
#include "src/runner/reference.h"
#include "src/runner/results_folder.h"

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
        columns_(provenance_columns(catalog)) {
    columns_["suite"] = suite.name;
    columns_["kind"] = kind();
    columns_["device"] = options.device;
    columns_["ranks"] = 1;
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
    for (std::size_t i = 0; i < selected.size() && !result.interrupted; ++i) {
      if (find_row(*selected[i]) != nullptr) continue;
      observer_.case_started(i, selected.size(), *selected[i]);
      result.interrupted = !run_case(*selected[i]) || interrupts_.count() > 0;
    }
    for (const Case* one : selected) {
      if (const Row* row = find_row(*one)) result.rows.push_back(*row);
    }
    return result;
  }

 private:
  void open_journal() {
    // Plans for two GPUs must not be mixed either.
    const std::string& device = options_.measures ? options_.device : options_.dry_run->gpu;
    const Json header = make_header(suite_, catalog_, kind(), device, options_.worker);
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
    check_same_header(journal_.records().front(), header, folder_.journal());
    for (const Json& record : journal_.records()) {
      if (record.contains("case")) rows_[record["case"]] = record.at("row");
    }
  }

  const Row* find_row(const Case& one) const {
    const auto row = rows_.find(one.name);
    return row == rows_.end() ? nullptr : &row->second;
  }

  std::string kind() const { return options_.measures ? "measured" : "planned"; }

  /// False: the user interrupted it, and it has no row.
  bool run_case(const Case& one) {
    Json columns = columns_;
    columns["started_at"] = utc_now();
    Outcome outcome;
    if (const auto why = why_unsupported(one, options_.device, catalog_)) {
      outcome.verdict = {Status::unsupported, *why};
    } else if (!(options_.measures ? measure(one, outcome, columns)
                                   : plan(one, outcome, columns))) {
      return false;
    }
    Row row = make_row(catalog_, one, outcome, columns);
    if (outcome.verdict.status == Status::ok) {
      outcome.verdict = check_against_reference(
          catalog_, suite_, one, row, [this](const Case& other) { return find_row(other); });
      row = make_row(catalog_, one, outcome, columns);
    }
    keep(one, row, outcome.record);
    return true;
  }

  /// Fills in what came of the case. False: the user interrupted it.
  bool measure(const Case& one, Outcome& outcome, Json& columns) {
    const FileDescriptor log = folder_.open_log(one.name);
    const WorkerReply reply = call_worker(request(one, log), interrupts_, on_progress_);
    if (reply.ending == WorkerReply::Ending::interrupted) return false;
    outcome = outcome_of(reply, catalog_);
    if (!options_.dry_run) return true;
    const FileDescriptor plan_log = folder_.open_log(one.name + ".plan");
    WorkerRequest dry = request(one, plan_log);
    dry.body.erase("snapshot");  // the measurement's own is kept
    const auto planned = plan_case(dry, *options_.dry_run, catalog_, interrupts_, on_progress_);
    if (!planned) return false;
    const Json figures = columns_of(planned->outcome.record);
    for (const auto& [name, value] : figures.items()) columns["planned_" + name] = value;
    return true;
  }

  bool plan(const Case& one, Outcome& outcome, Json& columns) {
    const FileDescriptor log = folder_.open_log(one.name);
    const auto planned =
        plan_case(request(one, log), *options_.dry_run, catalog_, interrupts_, on_progress_);
    if (!planned) return false;
    outcome = planned->outcome;
    columns.update(planned->columns);
    return true;
  }

  WorkerRequest request(const Case& one, const FileDescriptor& log) const {
    WorkerRequest request = measure_request(options_.worker, options_.device, one, log.get());
    if (options_.snapshots) request.body["snapshot"] = folder_.snapshot_path(one.name);
    return request;
  }

  void keep(const Case& one, const Row& row, const Json& record) {
    const Json entry = {{"case", one.name}, {"row", row}, {"record", record}};
    try {
      journal_.append(entry);
    } catch (const std::system_error&) {
      // The measurement may have taken hours: what can't be kept is handed to the user.
      write_all(STDERR_FILENO, entry.dump() + "\n", "standard error");
      throw;
    }
    rows_[one.name] = row;
    write_results();
    observer_.case_ended(row);
  }

  void write_results() const {
    std::vector<Row> rows;
    for (const Case& one : suite_.cases) {
      if (const Row* row = find_row(one)) rows.push_back(*row);
    }
    folder_.replace("results.csv", rows_to_csv(catalog_, rows));
  }

  const Catalog& catalog_;
  const Suite& suite_;
  const SuiteRunOptions& options_;
  Interrupts& interrupts_;
  SuiteRunObserver& observer_;
  ResultsFolder folder_;
  Journal journal_;
  Json columns_;  // what the runner itself says in each row
  const std::function<void(const WorkerProgress&)> on_progress_ =
      [this](const WorkerProgress& progress) { observer_.case_progressed(progress); };
  std::map<std::string, Row> rows_;  // by the case's name
};

}  // namespace

SuiteRunResult run_suite(const Catalog& catalog, const Suite& suite, const SuiteRunOptions& options,
                         Interrupts& interrupts, SuiteRunObserver& observer) {
  return SuiteRun(catalog, suite, options, interrupts, observer).run();
}

}  // namespace headroom
