// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "src/results/row.h"
#include "src/runner/outcome.h"
#include "src/suite/case.h"
#include "src/suite/catalog.h"

namespace headroom {

/// The row of a case. `runner_columns` holds what the runner knows beyond the case and its
/// outcome: device, provenance. A case that did not end `ok` keeps no measurement: of the worker's
/// columns only those of the groups identity, work and provenance. A planned row (its "kind") has
/// none of the groups time and learning. What the ranks of a case have each of their own is brought
/// together as each column's `across_ranks` says.
Row make_row(const Catalog& catalog, const Case& one, const Outcome& outcome,
             const nlohmann::ordered_json& runner_columns);

/// The ranks of a case, from what each of them gave: {"rank", "status", "reason", and the worker's
/// own columns}. A rank that did not end `ok` keeps as little as a case does.
std::vector<Row> make_rank_rows(const Catalog& catalog,
                                const std::vector<nlohmann::ordered_json>& rank_records);

}  // namespace headroom
