// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "src/dry_run/known_bytes.h"

// What ranks get who reduce what is known of what they send.
namespace headroom::dry_run {

enum class Reduction { sum, product, max, min, average };
enum class Number { int8, uint8, int32, uint32, int64, uint64, float32, float64, other };

/// Element by element, of what each rank sent: known where all of them are. Nothing where one of
/// the ranks knows nothing, and for numbers of 16 bits and less than int8, unless all sent the same
/// and `reduction` gives just that.
PartlyKnown reduce(const std::vector<PartlyKnown>& sent, Reduction reduction, Number number);

}  // namespace headroom::dry_run
