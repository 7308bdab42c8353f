// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/dry_run/known_bytes.h"

// The kernel of torch.repeat_interleave: numbers each thing as often as it is repeated, as images
// of several sizes number their parts.
namespace headroom::dry_run {

/// By the kernel's mangled name.
bool is_repeat(const char* name);

/// Brings what is known up to date with a launch of one. False: its arguments are not laid out as
/// expected.
bool run_repeat(const char* name, void** arguments, KnownBytes& known,
                bool (*owns)(const void* address));

}  // namespace headroom::dry_run
