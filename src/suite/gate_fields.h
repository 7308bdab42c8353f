// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/suite/catalog.h"

namespace headroom {

inline constexpr const char* kGate = "gate";
inline constexpr const char* kGateTimePercent = "time_percent";
inline constexpr const char* kGateReservedBytes = "reserved_bytes";

/// The object `gate` of a case: how far its figures may move before a comparison calls them
/// changed. The worker knows nothing of it.
Field gate_field();

}  // namespace headroom
