// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/results/results.h"

namespace headroom {

/// Tensors of a peak that are more, or fewer, than at another peak, and alike.
struct Growth {
  std::string category;              // what they are for
  std::string phase;                 // where they were made
  std::vector<std::int64_t> blocks;  // in each of these; empty: outside of the blocks
  std::string op;                    // that made them; empty: none, or not known of a timed step
  std::int64_t bytes = 0;            // of one tensor; of rounding all of it
  std::int64_t count = 0;            // how many more in each place; negative: fewer

  /// In all its places.
  std::int64_t total_bytes() const;
};

/// What the peak of the new one has more and less than the old one's, by its record, the most bytes
/// first. With all of it the difference of the two peaks is told, to the byte. Empty where a record
/// does not name its tensors, as where a case went wrong.
std::vector<Growth> growth(const CaseResult& old_result, const CaseResult& new_result);

}  // namespace headroom
