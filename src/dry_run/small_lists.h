// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/dry_run/known_bytes.h"

// torch._foreach_add_ with a number: optimizers count their steps so, where these are on the device
// (below torch.set_default_device), and read them back.
namespace headroom::dry_run {

/// By the kernel's mangled name.
bool adds_to_lists(const char* name);

/// Brings what is known up to date with a launch of one, with a block of the grid for each of
/// `blocks`. False: its arguments are not laid out as expected.
bool run_add_to_lists(void** arguments, unsigned blocks, KnownBytes& known,
                      bool (*owns)(const void* address));

}  // namespace headroom::dry_run
