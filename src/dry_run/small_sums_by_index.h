// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/dry_run/known_bytes.h"
#include "src/dry_run/live_blocks.h"

// index_put_() with accumulate, which sorts the indices first and then adds for each.
namespace headroom::dry_run {

/// By the kernel's mangled name.
bool is_sum_by_index(const char* name);

/// Brings what is known up to date with a launch of one. False: its arguments are not laid out as
/// expected.
bool run_sum_by_index(const char* name, void** arguments, const LiveBlocks& blocks,
                      KnownBytes& known, bool (*owns)(const void* address));

}  // namespace headroom::dry_run
