// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace headroom {

/// What of the gradients of a whole model this rank has.
struct GradientShare {
  /// Makes the sum of their squares that of all ranks', shape (), in place. Empty: they are all.
  std::function<void(at::Tensor&)> complete{};
  /// Of each, whether it counts in that sum: not where another rank counts the same. Empty: all do.
  std::vector<bool> counts{};

  bool has(std::size_t index) const { return counts.empty() || counts[index]; }
};

/// Scales all gradients by min(1, max_norm / (norm + 1e-6)), where norm is the 2-norm of all of
/// them together, and returns the norm, shape (). Without waiting for the device. Source:
/// torch.nn.utils.clip_grad_norm_ of PyTorch 2.11.
at::Tensor clip_gradients(std::span<const at::Tensor> parameters, double max_norm,
                          const GradientShare& share = {});

}  // namespace headroom
