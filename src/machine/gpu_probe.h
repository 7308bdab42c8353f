// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace headroom {

/// Has each of the first `count` CUDA devices, or all where there are fewer, add 1 and 1, in a
/// context of its own. One that others have taken works. Throws std::runtime_error with what is
/// wrong, and of which device; c10::Error where CUDA tells of none.
void probe_gpus(std::int64_t count);

/// Whether what CUDA says of a device is that others have it, or all of its memory.
bool is_taken(const std::string& error);

}  // namespace headroom
