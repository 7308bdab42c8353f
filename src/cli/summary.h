// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/results/row.h"

namespace headroom {

/// The rows of a run as a table for people: case, status, peak, what it saves against the
/// last plain row of the same model and as many ranks, step time, reason.
std::string format_summary(const std::vector<Row>& rows);

/// An amount of memory in a row, for people; empty where it has none.
std::string bytes_in(const Row& row, std::string_view column);

/// One line of it, for progress: "ok, 12.30 MiB, 4.56 ms a step".
std::string format_row(const Row& row);

}  // namespace headroom
