// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "src/dry_run/kernel_form.h"
#include "src/dry_run/live_blocks.h"
#include "src/dry_run/work.h"

namespace headroom::dry_run {

/// A launch of a kernel that was compiled with a program.
struct KernelLaunch {
  dim3 grid;
  dim3 block;
  void** arguments;  // a pointer to each
};

/// The work of a launch: attention by its operations, all else by what it moves.
Work launch_work(const Gpu& gpu, const KernelForm& form, const KernelLaunch& launch,
                 const LiveBlocks& blocks);

}  // namespace headroom::dry_run
