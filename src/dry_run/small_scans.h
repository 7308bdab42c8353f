// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/dry_run/known_bytes.h"

// torch.cumsum and torch.cumprod: where sequences of a batch begin that are packed, and which rows
// each expert of a mixture gets.
namespace headroom::dry_run {

/// By the kernel's mangled name.
bool is_scan(const char* name);

/// Brings what is known up to date with a launch of one. False: its arguments are not laid out as
/// expected.
bool run_scan(const char* name, void** arguments, KnownBytes& known,
              bool (*owns)(const void* address));

}  // namespace headroom::dry_run
