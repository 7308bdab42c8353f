// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/dry_run/known_bytes.h"

// torch.cat and torch.stack: programs join what they sent, and ask what came of it.
namespace headroom::dry_run {

/// By the kernel's mangled name.
bool is_join(const char* name);

/// Brings what is known up to date with a launch of one, with a row of the grid for each of `parts`
/// tensors. False: its arguments are not laid out as expected.
bool run_join(const char* name, void** arguments, unsigned parts, KnownBytes& known,
              bool (*owns)(const void* address));

}  // namespace headroom::dry_run
