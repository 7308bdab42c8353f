// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "src/ptx/kernel.h"

namespace headroom::ptx {

/// How many registers of 32 bits a thread needs at the most: of numbers that are read later on.
/// What a loop reads that was set before it is needed to the loop's end. Predicates are left out.
std::int64_t registers_at_once(const Kernel& kernel);

/// Has each instruction count its share of what a thread can't keep in registers, where it needs
/// far more of them than it may have (Count::spilled_bytes). Gives how many bytes of a thread have
/// no room in registers.
std::int64_t count_spills(Kernel& kernel);

}  // namespace headroom::ptx
