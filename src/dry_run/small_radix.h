// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/dry_run/known_bytes.h"

// CUB's radix sorts of numbers, some of which take a value along: sort() of more than 4,096 numbers
// in a row, unique(), and what adds where it finds the same index several times.
namespace headroom::dry_run {

/// By the kernel's mangled name.
bool is_radix_sort(const char* name);

/// Brings what is known up to date with a launch of one. False: its arguments are not laid out as
/// expected.
bool run_radix_sort(const char* name, void** arguments, KnownBytes& known,
                    bool (*owns)(const void* address));

}  // namespace headroom::dry_run
