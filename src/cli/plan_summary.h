// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "src/results/row.h"

namespace headroom {

/// The rows of a plan as a table for people: case, whether it fits, allocated and reserved peak
/// (with its bounds where these differ), the driver's figure, what was published and how far the
/// plan lies from it, reason.
std::string format_plan(const std::vector<Row>& rows);

}  // namespace headroom
