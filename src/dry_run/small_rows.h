// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/dry_run/small_launch.h"

// Rows of sparse matrices.
namespace headroom::dry_run {

/// Whether a kernel tells where rows begin by the row of each element, or the other way round.
bool is_of_rows(const char* name);

/// Where the rows of elements are not known, each row is taken for as long as another. False: the
/// arguments are not laid out as expected.
bool run_of_rows(const char* name, void** arguments, KnownBytes& known, Owns owns);

}  // namespace headroom::dry_run
