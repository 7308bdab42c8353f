// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "src/core/fields.h"

namespace headroom {

/// The catalog's form of the fields that `members` visits: an array of objects
///
///     {"name": "lr", "type": "number", "summary": "...", "default": 5e-5, "min": 0, "max": 10,
///      "only_with": ["adam"]}
///
/// `type` is integer, number, boolean, text, choice (with "choices": [{"name", "summary"}]) or
/// object (with "fields": [...]). "min" and "max" stand where there is a bound; "default" is
/// missing, and "required" is true, where a value must be given; "only_with" stands where it
/// limits.
nlohmann::ordered_json describe_fields(const std::function<void(Fields&)>& members);

}  // namespace headroom
