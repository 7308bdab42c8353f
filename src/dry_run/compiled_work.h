// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "src/dry_run/live_blocks.h"
#include "src/dry_run/work.h"
#include "src/gpus/gpu.h"
#include "src/ptx/threads.h"

namespace headroom::dry_run {

/// What a launch goes through by its arguments alone: each tensor that they point to once. 0: the
/// first one is no tensor.
///
/// `arguments`: a pointer to each, of which the driver alone knows how many there are. They are
/// read as far as they lie beside one another. May be null.
std::int64_t tensor_bytes(void** arguments, const LiveBlocks& blocks);

/// The work of a launch of a kernel that was compiled while the program runs, as Triton's are: the
/// longer of two. It moves `parts`, by vectors, and no more than its threads reach; where that is
/// 0, what its threads do elsewhere (kBytesPerThread), as PyTorch's own jitted kernels, whose
/// tensors stand in an array. What it spills and the cache has no room for comes on top, and then
/// all goes number by number. And it executes its instructions, `count`, where that is known.
Work compiled_work(const Gpu& gpu, const ptx::Launch& launch, const Parts& parts,
                   const std::optional<ptx::Count>& count);

}  // namespace headroom::dry_run
