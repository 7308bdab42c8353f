// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/dry_run/known_bytes.h"

// masked_scatter_(): elements of a source, one behind the other, where a mask holds. Programs put
// what they found in pictures between the words of a text so.
namespace headroom::dry_run {

/// By the kernel's mangled name.
bool is_masked_scatter(const char* name);

/// Brings what is known up to date with a launch of one. False: its arguments are not laid out as
/// expected.
bool run_masked_scatter(const char* name, void** arguments, KnownBytes& known,
                        bool (*owns)(const void* address));

}  // namespace headroom::dry_run
