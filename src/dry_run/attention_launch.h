// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/dry_run/launch_work.h"

namespace headroom::dry_run {

/// Of a launch of FlashAttention 2 or of PyTorch's memory-efficient attention: its products, for
/// each pair of a query and a key that a block goes through.
Work work_of_attention(const Gpu& gpu, const KernelForm& form, const KernelLaunch& launch);

}  // namespace headroom::dry_run
