// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/results/row.h"
#include "src/runner/case_plan.h"
#include "src/suite/case.h"
#include "src/suite/catalog.h"

// The rows of a run. All columns whose origin is the runner are filled here.
namespace headroom {

/// What a run says in each of its rows.
struct RunFacts {
  std::string suite;
  std::string device;       // "cpu" or "cuda"
  bool is_planned = false;  // its cases are planned, not measured
  std::string commit;
  nlohmann::ordered_json environment;  // what environment_of() gives
};

/// The kind of the run's rows: "measured" or "planned".
std::string kind_of(const RunFacts& run);

/// What can change a number and is in no column of its own: {"cpu", "cores", "kernel", "libtorch",
/// "variables": {name: value}}, of the processor, the cores that may be used, and the variables
/// that LibTorch, CUDA and the host's allocator read. The commit is not in it, so that two commits
/// compare. A GPU that no table has is in it with its figures, as "gpu"; `dry_run`: what is
/// played, null: nothing.
nlohmann::ordered_json environment_of(const Catalog& catalog, const DryRun* dry_run);

/// What came of one case, and when.
struct CaseFacts {
  std::string started_at;  // see utc_now()
  Outcome outcome;
  PlanFigures plan;  // of a planned case
  /// The figures of a measured case's own plan: the columns of its record. Empty: it has no plan.
  nlohmann::ordered_json planned = nlohmann::ordered_json::object();
};

/// The row of a case. A case that did not end `ok` keeps no measurement: of the worker's columns
/// only those of the groups identity, work and provenance. A planned row has none of the groups
/// time and learning. What the ranks of a case have each of their own is brought together as each
/// column's `across_ranks` says.
Row make_row(const Catalog& catalog, const RunFacts& run, const Case& one, const CaseFacts& facts);

/// A row of that case, beside the published figures that the case has now.
Row with_published(const Catalog& catalog, Row row, const Case& one);

/// The ranks of a case, from what each of them gave: {"rank", "status", "reason", and the worker's
/// own columns}. A rank that did not end `ok` keeps as little as a case does.
std::vector<Row> make_rank_rows(const Catalog& catalog,
                                const std::vector<nlohmann::ordered_json>& rank_records);

}  // namespace headroom
