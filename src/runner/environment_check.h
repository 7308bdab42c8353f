// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/workers/this_process.h"

namespace headroom {

/// Throws ConfigError, which names the variable, where OMP_NUM_THREADS, PYTORCH_ALLOC_CONF,
/// PYTORCH_CUDA_ALLOC_CONF or, where the run may use GPUs of this machine, CUDA_VISIBLE_DEVICES is
/// not of its form. Libraries pass over the first and the last one then, so that all cores and
/// another GPU would be measured; LibTorch ends every worker for the other two. Which options its
/// allocator knows, LibTorch alone says.
void check_environment(const Variables& variables, bool uses_gpus);

/// The variable that says which GPUs CUDA sees, and in which order.
inline constexpr const char* kVisibleGpus = "CUDA_VISIBLE_DEVICES";

/// How that variable names each of the `count` GPUs that CUDA sees by it: as it does already, or,
/// where it is not set, by their numbers. It has passed check_environment().
std::vector<std::string> names_of_gpus(const Variables& variables, std::size_t count);

/// Has this process, and what it starts, see these GPUs alone. Of the cores each of their ranks may
/// use as large a part as one GPU is of `all`, unless OMP_NUM_THREADS is set.
void restrict_to_gpus(const std::vector<std::string>& names, std::size_t all);

}  // namespace headroom
