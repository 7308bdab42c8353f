// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace headroom {

/// The longest message of a worker. The longest record that a case can have fits: the most steps
/// that the catalog allows, kMaxPeakEntries kinds of tensors and Ledger::kMaxPlaces places.
inline constexpr std::size_t kMaxMessageBytes = 4 * 1024 * 1024;

}  // namespace headroom
