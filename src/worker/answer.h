// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace headroom {

/// Does what a request asks for and sends its record: the worker's one place that catches.
/// Throws only where the runner can't be told.
void answer(const nlohmann::ordered_json& request);

}  // namespace headroom
