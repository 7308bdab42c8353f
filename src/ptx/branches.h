// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/ptx/kernel.h"

namespace headroom::ptx {

/// So that threads of a block go on together, as they do on a GPU. Takes assertions for holding: no
/// branch leads to a trap any more. And turns branches that choose between a few plain instructions
/// into guards of these; what has a guard of its own there is done by threads that are not known.
void straighten(Kernel& kernel);

/// How many branches jump to each instruction; one more for the end.
std::vector<int> jumps(const Kernel& kernel);

}  // namespace headroom::ptx
