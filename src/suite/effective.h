// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "src/suite/catalog.h"
#include "src/suite/suite_file.h"

namespace headroom {

/// A suite file that says what `file` says, with the catalog's defaults spelled out in `defaults`
/// and the options of techniques complete. `file` has been expanded without error before.
std::string write_effective_suite(const SuiteFile& file, const Catalog& catalog);

}  // namespace headroom
