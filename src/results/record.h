// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "src/suite/catalog.h"

// What a row takes from the records of workers: the runner makes it so, and a verification expects
// it.
namespace headroom {

/// The columns of a worker's record; none where there is no record, or it holds none: a case that
/// went wrong early.
nlohmann::ordered_json columns_of(const nlohmann::ordered_json& record);

/// What the row of a case holds in a column, by the column's rule for ranks, where the record that
/// the row explains has `own`; null: nothing.
nlohmann::ordered_json across_ranks(const Column& column, const nlohmann::ordered_json& own,
                                    const std::vector<nlohmann::ordered_json>& rank_records);

}  // namespace headroom
