// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "src/results/columns.h"

namespace headroom {

/// Two columns of a row: the first is never the smaller.
struct OrderedPeaks {
  std::string_view larger;
  std::string_view smaller;
};

/// How peaks lie, where a row has both: what is reserved holds what is allocated, and the whole run
/// its parts.
inline constexpr std::array kPeakOrder = {
    OrderedPeaks{column::run_peak_allocated_bytes, column::init_peak_allocated_bytes},
    OrderedPeaks{column::run_peak_allocated_bytes, column::steady_peak_allocated_bytes},
    OrderedPeaks{column::steady_peak_allocated_bytes, column::model_states_bytes},
    OrderedPeaks{column::run_peak_reserved_bytes, column::init_peak_reserved_bytes},
    OrderedPeaks{column::run_peak_reserved_bytes, column::steady_peak_reserved_bytes},
    OrderedPeaks{column::init_peak_reserved_bytes, column::init_peak_allocated_bytes},
    OrderedPeaks{column::steady_peak_reserved_bytes, column::steady_peak_allocated_bytes},
    OrderedPeaks{column::run_peak_reserved_bytes, column::run_peak_allocated_bytes},
    OrderedPeaks{column::run_peak_reserved_bytes, column::run_peak_reserved_lower_bytes},
    OrderedPeaks{column::run_peak_reserved_upper_bytes, column::run_peak_reserved_bytes},
};

}  // namespace headroom
