// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/dry_run/known_bytes.h"

// topk() of PyTorch, before what it finds is sorted.
namespace headroom::dry_run {

/// By the kernel's mangled name.
bool is_largest(const char* name);

/// Brings what is known up to date with a launch of one. Of numbers that are not all known the
/// places are numbers below the length of a row, each as often (small_shares.h). False: its
/// arguments are not laid out as expected, or it may have written anywhere.
bool run_largest(const char* name, void** arguments, KnownBytes& known,
                 bool (*owns)(const void* address));

}  // namespace headroom::dry_run
