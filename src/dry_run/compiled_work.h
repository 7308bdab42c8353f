// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "src/dry_run/live_blocks.h"
#include "src/dry_run/work.h"
#include "src/gpus/gpu.h"
#include "src/ptx/threads.h"

namespace headroom::dry_run {

/// The work of a launch of a kernel that was compiled while the program runs, as Triton's are: the
/// longer of two. It goes once through each tensor that its arguments point to, with vectors; one
/// whose first argument is no tensor counts by its threads (kBytesPerThread), as PyTorch's own
/// jitted kernels do, whose tensors stand in an array. And it executes its instructions, `count`,
/// where that is known.
///
/// `launch.arguments`: a pointer to each, of which the driver alone knows how many there are. They
/// are read as far as they lie beside one another. May be null.
Work compiled_work(const Gpu& gpu, const ptx::Launch& launch,
                   const std::optional<ptx::Count>& count, const LiveBlocks& blocks);

}  // namespace headroom::dry_run
