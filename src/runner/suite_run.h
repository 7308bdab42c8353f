// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/results/row.h"
#include "src/runner/dry_run.h"
#include "src/suite/suite.h"
#include "src/workers/agents.h"
#include "src/workers/this_process.h"
#include "src/workers/worker_call.h"

namespace headroom {

struct SuiteRunOptions {
  std::string worker;             // the program's path
  std::string device;             // cpu or cuda
  std::filesystem::path folder;   // for the results
  bool resume = false;            // go on with what the folder holds
  std::filesystem::path runs;     // where `folder` lies there, it is remembered, see last_run()
  bool measures = true;           // false: cases are planned, not measured
  std::optional<DryRun> dry_run;  // how cases are planned, alone or beside their measurement
  std::size_t jobs = 1;           // cases that are planned at once
  /// GPUs that do for any case, by their names in CUDA_VISIBLE_DEVICES: where there are several, a
  /// suite with `memory_only` is measured on all of them at once.
  std::vector<std::string> gpus;
  bool snapshots = false;    // one a case, see ResultsFolder
  Agents* agents = nullptr;  // of the ranks that a launcher started beside this one
  std::function<bool(const Case&)> selects = [](const Case&) { return true; };
};

/// Sees a run as it goes on. `index` counts the selected cases from 0.
class SuiteRunObserver {
 public:
  virtual ~SuiteRunObserver() = default;
  virtual void said(const std::string& note) = 0;
  virtual void case_started(std::size_t index, std::size_t count, const Case& one) = 0;
  virtual void case_progressed(const WorkerProgress& progress) = 0;
  virtual void case_ended(const Row& row) = 0;
};

struct SuiteRunResult {
  /// Of the selected cases that are done, in the suite's order. That of a case of several ranks
  /// holds theirs as well, beyond its columns: "rank_rows", see make_rank_rows().
  std::vector<Row> rows;
  bool interrupted = false;
  std::string lost = {};  // why there could be no further case: an agent was lost. Empty: none was
};

/// Measures, or plans, the selected cases of a suite, one case after the other, or so many plans at
/// once, or one case on each GPU, and keeps each outcome in the folder before the next one starts
/// in its place. A case that goes wrong is a row, and the run goes on. What ends the run ends it
/// once the cases that are at work have ended.
///
/// Throws ConfigError where the folder holds results and `resume` is not set, or files that
/// headroom did not make, or another process works on it;
/// Unsupported where no further case can be measured here: a worker could not be ended, or the GPUs
/// do not work any more behind a case that went wrong (its row is kept); ResultsError where its
/// journal is damaged or of another plan, or the worker of any rank, or a library that it is linked
/// with, is not the file any more that the run began with; std::system_error where a worker can't
/// be started (a case that takes more open files than a process may have is a row), results can't
/// be written, or there is no room for those of another case. Whatever goes wrong once a case has
/// its outcome: one that could not be kept stands on standard error, as one line of JSON.
SuiteRunResult run_suite(const Catalog& catalog, const Suite& suite, const SuiteRunOptions& options,
                         Interrupts& interrupts, SuiteRunObserver& observer);

/// Now, in UTC: "2026-11-21T11:30:05Z". A label; durations come from other clocks.
std::string utc_now();

}  // namespace headroom
