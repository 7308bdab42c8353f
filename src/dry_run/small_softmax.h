// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/dry_run/known_bytes.h"

// Softmax of PyTorch over rows of up to 1,024 numbers, which is not computed: the host reads each
// number of a row as equally probable. Programs that draw by these on the host check that they sum
// up to 1.
namespace headroom::dry_run {

/// By the kernel's mangled name.
bool is_softmax(const char* name);

/// Brings what is known up to date with a launch of one. False: its arguments are not laid out as
/// expected.
bool run_softmax(const char* name, void** arguments, KnownBytes& known,
                 bool (*owns)(const void* address));

}  // namespace headroom::dry_run
