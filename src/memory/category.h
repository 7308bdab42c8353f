// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace headroom {

/// What a live allocation is for. Where two would fit, the later one holds: a weight that is saved
/// for backward stays a weight.
enum class Category {
  temporary,        // anything a step makes and drops that is none of those below
  activations,      // saved for backward
  communication,    // buffers of collectives
  batch,            // inputs and labels
  optimizer_state,  // moments, momentum, step counters
  gradients,        // of parameters
  weights,          // parameters, in every precision they are kept in
  rounding,         // what the allocator hands out beyond what was asked for
};

}  // namespace headroom
