// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/dry_run/known_bytes.h"

// Kernels of CUB's and Thrust's by which PyTorch keeps one of each of what are the same and stand
// in a row, as they do once they are sorted (small_radix.h): unique(), and coalesce() of a sparse
// tensor. How many there are is read by the host, and says how large the result is.
namespace headroom::dry_run {

/// By the kernel's mangled name.
bool is_unique(const char* name);

/// Brings what is known up to date with a launch of one. Of numbers that are not known it is
/// assumed that all are the same: there is one of them at least, and programs loop over what they
/// find. Rows, and the places of a sparse tensor, are taken for distinct. False: its arguments are
/// not laid out as expected.
bool run_unique(const char* name, void** arguments, KnownBytes& known,
                bool (*owns)(const void* address));

}  // namespace headroom::dry_run
