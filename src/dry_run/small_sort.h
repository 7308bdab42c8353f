// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/dry_run/known_bytes.h"

// sort(), argsort() and what else of PyTorch sorts rows of up to 4,096 numbers in place, with the
// places that they come from.
namespace headroom::dry_run {

/// By the kernel's mangled name.
bool is_sort_in_place(const char* name);

/// Brings what is known up to date with a launch of one. A row that is not known in whole is
/// assumed to stand in order: programs ask for places that are valid. False: its arguments are not
/// laid out as expected.
bool run_sort_in_place(const char* name, void** arguments, KnownBytes& known,
                       bool (*owns)(const void* address));

}  // namespace headroom::dry_run
