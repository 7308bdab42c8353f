// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/dry_run/known_bytes.h"

// The kernel of torch.nn.functional.interpolate in two dimensions that takes the nearest element:
// masks of images are made as large as what a network makes of these.
namespace headroom::dry_run {

/// By the kernel's mangled name.
bool is_resize(const char* name);

/// Brings what is known up to date with a launch of one. False: its arguments are not laid out as
/// expected.
bool run_resize(const char* name, void** arguments, KnownBytes& known,
                bool (*owns)(const void* address));

}  // namespace headroom::dry_run
