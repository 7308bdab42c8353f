// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "src/ptx/kernel.h"

namespace headroom::ptx {

/// Through which of a kernel's parameters it loads from the device's memory, and stores to it: by
/// what addresses are made of.
struct Accesses {
  std::vector<int> loads;  // how often it goes through what is there: in so many loops, or in none
  std::vector<bool> stores;
};
Accesses accesses(const Kernel& kernel);

}  // namespace headroom::ptx
