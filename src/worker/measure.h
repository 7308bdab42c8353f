// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/machine/gpu_condition.h"
#include "src/memory/device_memory.h"
#include "src/worker/case.h"
#include "src/worker/request.h"
#include "techniques/step.h"

namespace headroom {

/// All that one run of a case tells. Empty: not measured.
struct Measurement {
  PeakMemory init;    // while the model and the optimizer are built
  PeakMemory steady;  // in the timed steps
  PeakMemory run;     // over all of it, init and evaluation included
  PeakReport peak;    // what run.allocated_bytes is made of, by the ledger's own sums
  std::vector<PlaceMemory> step_memory;  // over the counted step
  std::optional<std::int64_t> driver_bytes;
  /// The most that the device can give, or that this process lets itself have of the host.
  std::optional<std::int64_t> device_memory_bytes;
  std::optional<std::int64_t> host_peak_bytes;
  std::int64_t pinned_peak_bytes = 0;
  std::int64_t model_states_bytes = 0;  // in the last step, when backward had ended

  std::vector<std::int64_t> step_time_ns;         // of the timed steps, batch loading included
  std::vector<std::int64_t> data_wait_ns;         // of these times: until the batch was there
  std::optional<double> other_load_percent;       // while they were timed
  std::optional<double> gpu_utilisation_percent;  // likewise
  GpuCondition gpu_before;                        // right before the timed steps
  GpuCondition gpu_after;                         // right after them
  std::vector<double> losses;                     // of every step from the first
  std::optional<double> first_gradient_norm;
  std::int64_t copied_bytes_per_step = 0;
  std::int64_t sent_bytes_per_step = 0;  // by collectives, at least
  std::optional<double> held_out_accuracy;
  std::string why_not_saved;            // the weights, where they were to be; empty: they are
  std::optional<double> ceiling_flops;  // a second; product_ceiling of the case's dtype
  Evidence evidence;
};

/// Runs a case. This function's text is the definition of the numbers.
/// Throws whatever ends the case: Unsupported, c10::OutOfMemoryError, ...
Measurement measure(const WorkerCase& measured, const Messages& messages);

}  // namespace headroom
