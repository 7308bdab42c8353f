// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "models/table.h"

namespace headroom {

/// What `headroom inspect` prints: models/inspect.h, and the FLOPs of one sample, counted by
/// running it on the CPU: "forward_flops", and "step_flops" with backward. Throws ConfigError where
/// the shape does not fit the model.
nlohmann::ordered_json inspect_with_flops(const ModelOptions& options, const InputShape& shape);

}  // namespace headroom
