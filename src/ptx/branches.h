// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/ptx/kernel.h"

namespace headroom::ptx {

/// Leaves out branches, so that threads of a block go on together, as they do on a GPU. Assertions
/// are taken to hold: no branch leads to a trap any more. Branches that choose between a few plain
/// instructions become guards of these; which threads do what had a guard before is not known then.
void straighten(Kernel& kernel);

/// From where a branch goes back to up to that branch.
struct Loop {
  std::size_t begin;
  std::size_t end;
};

/// By where they end.
std::vector<Loop> loops(const Kernel& kernel);

/// How many branches jump to each instruction; one more for the end.
std::vector<int> jumps(const Kernel& kernel);

}  // namespace headroom::ptx
