// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/dry_run/known_bytes.h"

// What PyTorch reads and writes by tensors of indices: x[index], x[index] = v, take(), put_(),
// index_fill_() and index_copy_().
namespace headroom::dry_run {

/// By the kernel's mangled name.
bool is_index(const char* name);

/// Brings what is known up to date with a launch of one. False: its arguments are not laid out as
/// expected.
bool run_index(const char* name, void** arguments, KnownBytes& known,
               bool (*owns)(const void* address));

}  // namespace headroom::dry_run
