// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "src/runner/dry_run.h"

namespace headroom {

/// Adds to each report what is reserved and not allocated at its process's peak of reserved memory,
/// where that was left in `folder` (src/dry_run/reserved_peak.py): "reserved_peak", an object. Its
/// "reserved_bytes" are the sum of "allocated_bytes", "waiting_bytes" (free but for the work of
/// other streams) and of "free", a list of {"pool", "stream", "bytes", "pieces", "largest_bytes"}.
/// It grew for a block of "asked_bytes" at the line "asked_at", while of its pool and stream
/// "too_small_bytes" were free in "too_small_pieces", the largest of "too_small_largest_bytes",
/// beside blocks of "neighbours", a list of {"line", "bytes", "blocks"}; and "passed_over_bytes" in
/// "passed_over_pieces" that were large enough. What is none, or does not sum to the peak, is left
/// out.
void add_reserved_peaks(DryReports& reports, const std::filesystem::path& folder);

}  // namespace headroom
