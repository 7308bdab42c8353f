// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "src/runner/dry_run.h"

namespace headroom {

/// Adds to each report what holds its process's peak on its device, where that was left in `folder`
/// (src/dry_run/peak_holders.py): "holders", a list of objects with "kind" (parameters, gradients,
/// optimizer state, optimizer, forward, backward), "line" (FILE:LINE FUNCTION; empty: no Python was
/// at work), "bytes" and "blocks", the largest first. What the program may have written over, and
/// is none, is left out, and so is one whose sum is not the peak.
void add_holders(DryReports& reports, const std::filesystem::path& folder);

}  // namespace headroom
