// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace headroom {

/// From here on what CUDA's caching allocator has free is noted whenever it refuses memory. Nothing
/// in a build without CUDA.
void follow_refused_memory();

/// What lay reserved and free when memory was last refused, as a sentence behind the allocator's
/// own: in how many pieces, and how large the largest is. The allocator had given back all segments
/// that were free as a whole, so these are pieces beside live tensors. Empty: none was free, or no
/// memory was refused.
std::string free_when_refused();

}  // namespace headroom
