// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "src/core/fields.h"

namespace headroom {

/// Fills the fields that `members` visits from the JSON object `values`. A field that is missing
/// keeps its value; a key that no field read, a wrong type and a value out of range are errors.
/// `where` names the object in messages ("train.optimizer").
/// Throws ConfigError. The command line has checked a case before; this is the worker's own door.
void read_fields(const nlohmann::ordered_json& values, const std::string& where,
                 const std::function<void(Fields&)>& members);

}  // namespace headroom
