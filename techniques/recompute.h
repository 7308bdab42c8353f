// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "models/model.h"

namespace headroom {

/// How a function is run again in backward.
struct RecomputeOptions {
  at::Device device = at::kCPU;
  bool reentrant = false;         // an autograd function that calls backward inside backward
  bool random_state = false;      // restore the generator: the function draws random numbers
  std::int64_t* count = nullptr;  // raised by `blocks` at each recomputation; outlives the function
  std::int64_t blocks = 1;
};

/// A function with the same result and gradients that keeps only its input for backward.
///
/// The default keeps nothing of what `inner` saves; when backward asks for the first of those
/// tensors, `inner` runs again up to the last of them (early stop), under the forward's random
/// state and autocast settings. The second run leaves running statistics as they are: each batch
/// counts once. (PyTorch's checkpoint counts it twice.) It nests, and other saved-tensor hooks
/// around it see its input.
BlockFunction recompute_in_backward(BlockFunction inner, const RecomputeOptions& options);

}  // namespace headroom
