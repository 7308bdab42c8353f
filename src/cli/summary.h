// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/results/results.h"
#include "src/results/row.h"

namespace headroom {

/// The rows of a run or a plan as a table for people: case, status, allocated peak, what it saves
/// against the last plain row of the same model and as many ranks, step time (measured, or "about"
/// where it is estimated), reason. Where a row has them: whether it fits, the reserved peak (with
/// its bounds where these differ), the driver's figure, what was published and how far the row lies
/// from it. Below it steps beside the published run's, where the suite has its time, and the cases
/// whose 16-bit products the CPU emulated.
std::string format_summary(const std::vector<Row>& rows);

/// Repeats of a suite's cases as a table for people: case, status, processes, the largest peak, and
/// of the step times of processes, which are medians, the median, shortest and longest.
std::string format_repeats(const std::vector<Results>& results);

/// One row as a line, for progress: "ok, 12.30 MiB, 4.56 ms a step".
std::string format_row(const Row& row);

}  // namespace headroom
