// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/dry_run/known_bytes.h"

// index_select() and what is read by it as embeddings are, and index_add_() with its like: an index
// for each slice along one dimension.
namespace headroom::dry_run {

/// By the kernel's mangled name.
bool is_select(const char* name);

/// Brings what is known up to date with a launch of one. False: its arguments are not laid out as
/// expected.
bool run_select(const char* name, void** arguments, KnownBytes& known,
                bool (*owns)(const void* address));

}  // namespace headroom::dry_run
