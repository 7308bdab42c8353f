// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "src/report/groups.h"

namespace headroom {

/// A measured case between memory and time.
struct Tradeoff {
  const Line* line = nullptr;
  double samples_per_second = 0;
  double peak_bytes = 0;
  bool is_best = false;  // no other one has as little memory and as much speed, and more of either
};

/// The cases of a group that have both, fastest first. A plan has no times, so it has none.
std::vector<Tradeoff> tradeoffs_of(const Group& group);

}  // namespace headroom
