// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/dry_run/known_bytes.h"

// gather() and the scatters of PyTorch, which have an index for each element.
namespace headroom::dry_run {

/// By the kernel's mangled name.
bool is_scatter(const char* name);

/// Brings what is known up to date with a launch of one. Of a mask that is made of one number at
/// places that are not known, what share of it holds that number stays known (small_shares.h).
/// False: its arguments are not laid out as expected.
bool run_scatter(const char* name, void** arguments, KnownBytes& known,
                 bool (*owns)(const void* address));

}  // namespace headroom::dry_run
