// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "src/ptx/kernel.h"

namespace headroom::ptx {

/// Sets what an instruction does by its opcode, as "setp.lt.s32": all but its operands and its
/// guard.
void set_opcode(std::string_view opcode, Instruction& instruction);

}  // namespace headroom::ptx
