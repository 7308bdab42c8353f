// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/dry_run/known_bytes.h"
#include "src/dry_run/live_blocks.h"

// Kernels of PyTorch that keep one triangle of matrices, as of a mask of which each token sees what
// is before it, and that list the places of a triangle: of all pairs of something.
namespace headroom::dry_run {

/// By the kernel's mangled name.
bool is_triangle(const char* name);

/// Brings what is known up to date with a launch of one. False: its arguments are not laid out as
/// expected.
bool run_triangle(const char* name, void** arguments, const LiveBlocks& blocks, KnownBytes& known,
                  bool (*owns)(const void* address));

}  // namespace headroom::dry_run
