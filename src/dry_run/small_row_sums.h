// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/dry_run/known_bytes.h"

// scatter_add_() and index_add_() of whole rows, which PyTorch has kernels for since 2.12.
namespace headroom::dry_run {

/// By the kernel's mangled name.
bool is_row_sum(const char* name);

/// Brings what is known up to date with a launch of one. False: its arguments are not laid out as
/// expected.
bool run_row_sum(const char* name, void** arguments, KnownBytes& known,
                 bool (*owns)(const void* address));

}  // namespace headroom::dry_run
