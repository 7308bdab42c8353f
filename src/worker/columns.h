// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "src/worker/measure.h"

namespace headroom {

/// The values of the columns that the worker fills (src/results/columns.h), in their order. What
/// was not measured is not there.
nlohmann::ordered_json worker_columns(const Recipe& recipe, const Measurement& measurement);

}  // namespace headroom
