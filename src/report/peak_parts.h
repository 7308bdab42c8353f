// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

namespace headroom {

/// One of the eight parts of run_peak_allocated_bytes, in the order of the bars.
struct PeakPart {
  const char* name;    // for people
  const char* column;  // of the row
  const char* style;   // its class in report.css: colour and pattern
};

inline constexpr std::array kPeakParts = {
    PeakPart{"weights", "peak_weights_bytes", "weights"},
    PeakPart{"gradients", "peak_gradients_bytes", "gradients"},
    PeakPart{"optimizer state", "peak_optimizer_state_bytes", "state"},
    PeakPart{"activations", "peak_activations_bytes", "activations"},
    PeakPart{"batch", "peak_batch_bytes", "batch"},
    PeakPart{"communication", "peak_communication_bytes", "communication"},
    PeakPart{"temporary", "peak_temporary_bytes", "temporary"},
    PeakPart{"rounding", "peak_rounding_bytes", "rounding"},
};

}  // namespace headroom
