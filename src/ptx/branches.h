// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/ptx/kernel.h"

namespace headroom::ptx {

/// Takes assertions for holding: no branch leads to a trap any more.
void drop_assertions(Kernel& kernel);

/// Turns branches that choose between a few plain instructions into guards of these: threads of a
/// block that differ there go on together, as they do on a GPU.
void guard_choices(Kernel& kernel);

/// How many branches jump to each instruction; one more for the end.
std::vector<int> jumps(const Kernel& kernel);

}  // namespace headroom::ptx
