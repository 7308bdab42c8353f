// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

// What ranks get who reduce what is known of what they send.
namespace headroom::dry_run {

enum class Reduction { sum, product, max, min, average };
enum class Number { int8, uint8, int32, uint32, int64, uint64, float32, float64, other };

/// Element by element, of what each rank sent. Empty where what one of them sent is not known, and
/// for numbers of 16 bits and less than int8, unless all sent the same and `reduction` gives just
/// that.
std::vector<unsigned char> reduce(const std::vector<std::vector<unsigned char>>& sent,
                                  Reduction reduction, Number number);

}  // namespace headroom::dry_run
