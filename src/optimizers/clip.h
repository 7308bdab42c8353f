// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <span>

namespace headroom {

/// Scales all gradients by min(1, max_norm / (norm + 1e-6)), where norm is the 2-norm of all of
/// them together, and returns the norm, shape (). Without waiting for the device. Source:
/// torch.nn.utils.clip_grad_norm_ of PyTorch 2.11.
at::Tensor clip_gradients(std::span<const at::Tensor> parameters, double max_norm);

}  // namespace headroom
