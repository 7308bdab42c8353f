// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/dry_run/small_launch.h"

namespace headroom::dry_run {

/// Whether a kernel makes one number of what a network says of each class: cross entropy.
bool is_loss(const char* name);

/// That number is not known. False: its arguments are not laid out as expected.
bool run_loss(const char* name, void** arguments, KnownBytes& known, Owns owns);

}  // namespace headroom::dry_run
