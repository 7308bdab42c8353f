// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/dry_run/known_bytes.h"

// Kernels of CUB's by which PyTorch finds what is not zero: nonzero(), and what is indexed by a
// mask. How many there are is read by the host, and says how large the result is.
namespace headroom::dry_run {

/// By the kernel's mangled name.
bool is_count(const char* name);

/// Brings what is known up to date with a launch of one, of so many blocks. Of elements that are
/// not known, nor what share of them is not zero, it is assumed that none is zero: masks keep most
/// of what they are made for, and a result that is too large does no harm to who asks whether a
/// program fits. Where a share of them is not zero, that lies evenly. False: its arguments are not
/// laid out as expected.
bool run_count(const char* name, void** arguments, unsigned blocks, KnownBytes& known,
               bool (*owns)(const void* address));

}  // namespace headroom::dry_run
