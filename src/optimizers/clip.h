// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <span>

namespace headroom {

/// Scales all gradients by min(1, max_norm / (norm + 1e-6)), where norm is the 2-norm of all of
/// them together, and returns the norm, shape (). Without waiting for the device. Source:
/// torch.nn.utils.clip_grad_norm_ of PyTorch 2.11.
///
/// `complete`: where this rank holds only a part of the gradients, makes the sum of their squares
/// that of all, shape (), in place.
at::Tensor clip_gradients(std::span<const at::Tensor> parameters, double max_norm,
                          const std::function<void(at::Tensor&)>& complete = {});

}  // namespace headroom
