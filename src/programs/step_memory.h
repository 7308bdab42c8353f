// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "src/runner/dry_run.h"

namespace headroom {

/// Adds `step_memory` to each report of a process that left it in the folder of the run: of the
/// step that holds its allocated peak, as a worker's record has it (src/report/sections.h).
void add_step_memory(DryReports& reports, const std::filesystem::path& folder);

}  // namespace headroom
