// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/dry_run/known_bytes.h"

// Kernels of PyTorch that join what is true: `|` and `~` of bools, and `&` of int64 with whole
// numbers of any width. Loops that make texts end by these (unfinished & ~(is_done | criterion)).
namespace headroom::dry_run {

/// By the kernel's mangled name, of an elementwise kernel.
bool is_logic(const char* name);

/// Brings what is known up to date with a launch of one. Where one side decides alone, as all of it
/// is true for `|` or 0 for `&`, nothing need be known of the other.
void run_logic(const char* name, void** arguments, KnownBytes& known);

}  // namespace headroom::dry_run
