// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/workers/this_process.h"

namespace headroom {

/// Throws ConfigError, which names the variable, where OMP_NUM_THREADS, PYTORCH_ALLOC_CONF,
/// PYTORCH_CUDA_ALLOC_CONF or, where the run may use GPUs of this machine, CUDA_VISIBLE_DEVICES is
/// not of its form. Libraries pass over the first and the last one then, so that all cores and
/// another GPU would be measured; LibTorch ends every worker for the other two. Which options its
/// allocator knows, LibTorch alone says.
void check_environment(const Variables& variables, bool uses_gpus);

}  // namespace headroom
