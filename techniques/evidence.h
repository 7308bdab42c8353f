// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace headroom {

/// What a run saw of its techniques: a technique that silently did nothing would pass every test of
/// equality. Counts are over the whole run.
struct Evidence {
  std::int64_t steps = 0;                   // optimizer updates, skipped ones included
  std::int64_t backward_passes = 0;         // calls of backward
  std::int64_t recomputed_blocks = 0;       // forward passes run again for backward
  std::int64_t offloaded_bytes = 0;         // saved tensors copied to the host
  std::int64_t fetched_bytes = 0;           // ... and back
  std::int64_t updates_in_backward = 0;     // parameters updated before backward ended
  std::int64_t staged_parameter_bytes = 0;  // parameters made elsewhere than they stay, or wider
  std::int64_t parameter_bytes = 0;         // parameters as they are trained
  std::int64_t trained_bytes = 0;           // what the optimizer updates: of them, this rank's
  std::int64_t parameter_count = 0;         // elements
  std::int64_t parameter_tensors = 0;
  std::int64_t device_state_bytes = 0;   // optimizer state beside the parameters
  std::int64_t host_state_bytes = 0;     // optimizer state on the host
  std::int64_t gathers = 0;              // of weights, from the parts that ranks have
  std::int64_t reductions = 0;           // of gradients, over ranks
  std::int64_t flops = 0;                // of one step, products only
  std::int64_t low_precision_flops = 0;  // those of them in 16 bits
};

}  // namespace headroom
