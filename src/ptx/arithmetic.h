// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/ptx/kernel.h"

namespace headroom::ptx {

/// What an instruction makes of its operands, in each of `threads`: `from[i]` has a number of each
/// thread, as a register holds it: below the bits of its type zeros. False: it is not followed.
bool calculate(const Instruction& instruction, std::size_t threads,
               const std::uint64_t* const* from, std::uint64_t* to);

}  // namespace headroom::ptx
