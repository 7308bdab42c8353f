// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "src/suite/case.h"
#include "src/suite/catalog.h"
#include "src/suite/suite_file.h"

namespace headroom {

/// Every case of the file under every combination of its matrix, in the file's order, the last key
/// of the matrix fastest, with the layers merged as load_suite says.
/// Throws ConfigError; also where there would be more than Suite::kMostCases.
std::vector<Case> expand_cases(const SuiteFile& file, const Catalog& catalog);

/// Puts overrides of the command line into what the file says: over `set`, and in place of the list
/// of an axis of the same path. Throws ConfigError where a path is unknown.
void add_overrides(SuiteFile& file, const std::vector<Override>& overrides, const Catalog& catalog);

}  // namespace headroom
