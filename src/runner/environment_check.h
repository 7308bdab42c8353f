// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/workers/this_process.h"

namespace headroom {

/// Throws ConfigError, which names the variable, where OMP_NUM_THREADS, CUDA_VISIBLE_DEVICES,
/// PYTORCH_ALLOC_CONF or PYTORCH_CUDA_ALLOC_CONF is not of its form. Libraries pass over the first
/// two then, so that all cores and another GPU would be measured; LibTorch ends every worker for
/// the last two. Which options its allocator knows, LibTorch alone says.
void check_environment(const Variables& variables);

}  // namespace headroom
