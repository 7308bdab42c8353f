// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/dry_run/known_bytes.h"

// torch.flip and torch.roll: solvers turn their times around, and check that they rise.
namespace headroom::dry_run {

/// By the kernel's mangled name.
bool is_flip(const char* name);

/// Brings what is known up to date with a launch of one. False: its arguments are not laid out as
/// expected, or the result has gaps.
bool run_flip(const char* name, void** arguments, KnownBytes& known,
              bool (*owns)(const void* address));

}  // namespace headroom::dry_run
