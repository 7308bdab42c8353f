// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

namespace headroom {

/// gelu by its tanh formula, each operation by itself, as transformers' NewGELUActivation runs it:
/// one kernel for it all would keep less for backward.
at::Tensor gelu_new(const at::Tensor& x);

}  // namespace headroom
