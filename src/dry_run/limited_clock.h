// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "src/dry_run/work.h"
#include "src/gpus/gpu.h"

namespace headroom::dry_run {

/// The clock of a GPU's multiprocessors. It falls where the GPU would draw more than its limit in
/// the mean of some 20 ms. What computes takes longer then, in proportion, and each operation less
/// energy, also in proportion; memory and links go on as before. docs/time_rates.md says
/// where this was seen.
class LimitedClock {
 public:
  explicit LimitedClock(const Power& power) : power_(&power) {}

  /// What the work takes that begins then, at the clock of that time.
  Work run(const Work& work, std::int64_t begin_ns);

 private:
  void follow_power();

  const Power* power_;
  double share_ = 1;            // of the full clock
  std::int64_t until_ns_ = 0;   // for which the means are
  double computing_watts_ = 0;  // at the full clock's energy for each operation
  double moving_watts_ = 0;
};

}  // namespace headroom::dry_run
