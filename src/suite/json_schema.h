// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "src/suite/catalog.h"

namespace headroom {

/// The JSON schema (draft-07) of suite files, for editors. It can't say all that load_suite checks
/// (unique names, layers), but what it refuses load_suite refuses too.
nlohmann::ordered_json suite_json_schema(const Catalog& catalog);

}  // namespace headroom
