// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "src/dry_run/live_blocks.h"
#include "src/dry_run/work.h"
#include "src/gpus/gpu.h"

namespace headroom::dry_run {

/// The work of a launch of a kernel that was compiled while the program runs, as Triton's are: it
/// goes once through each tensor that its arguments point to, with vectors. So it takes as long
/// however it is divided into blocks, and a program that times several keeps the first. One whose
/// first argument is no tensor counts by its threads (kBytesPerThread), as PyTorch's own jitted
/// kernels do, whose tensors stand in an array.
///
/// `arguments`: a pointer to each, of which the driver alone knows how many there are. They are
/// read as far as they lie beside one another. May be null.
Work compiled_work(const Gpu& gpu, void** arguments, std::int64_t threads,
                   const LiveBlocks& blocks);

}  // namespace headroom::dry_run
