// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "src/ptx/kernel.h"

namespace headroom::ptx {

/// Through which of a kernel's parameters it loads from the device's memory, and stores to it: by
/// what addresses are made of.
struct Accesses {
  std::vector<bool> loads;
  std::vector<bool> stores;
};
Accesses accesses(const Kernel& kernel);

}  // namespace headroom::ptx
