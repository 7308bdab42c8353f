// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "src/ptx/kernel.h"
#include "src/ptx/memory.h"
#include "src/ptx/threads.h"

namespace headroom::ptx {

/// What of a kernel decides which instructions its threads execute: its branches, and what their
/// conditions are made of. It counts the instructions of all (Instruction::count).
struct Slice {
  Kernel kernel;
  bool is_by_thread = false;  // warps of a block may differ
  bool has_loads = false;     // of numbers in memory
};
Slice slice(const Kernel& kernel);

/// What all warps of a launch amount to, of which some blocks are run, spread evenly. Nothing: that
/// can't be known, as it depends on numbers that are not. Of a launch that takes very many
/// instructions, too.
std::optional<Count> count(const Slice& slice, const Launch& launch, Memory& memory);

}  // namespace headroom::ptx
