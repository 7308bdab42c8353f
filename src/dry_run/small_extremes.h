// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/dry_run/known_bytes.h"

// argmax() and argmin(), and max() and min() along a dimension: where the largest or smallest
// element stands.
namespace headroom::dry_run {

/// By the kernel's mangled name.
bool is_extreme(const char* name);

/// Brings what is known up to date with a launch of one, by its argument. Of floats that something
/// may have been written over nothing is said: what was filled is often added to by kernels that
/// are not followed. False: the argument is not laid out as expected.
bool run_extreme(const char* name, const void* operation, KnownBytes& known,
                 bool (*owns)(const void* address));

}  // namespace headroom::dry_run
