// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/dry_run/known_bytes.h"

// Kernels of PyTorch that copy numbers into another type. A mask of tokens is made bools and then
// whole numbers, which are counted, before a program decides whether anything is masked.
namespace headroom::dry_run {

/// By the kernel's mangled name, of an elementwise kernel.
bool is_converting_copy(const char* name);

/// Brings what is known up to date with a launch of one. Of bools that are not known it is assumed
/// that they are true, as of whether all of something holds.
void run_converting_copy(const char* name, void** arguments, KnownBytes& known);

}  // namespace headroom::dry_run
