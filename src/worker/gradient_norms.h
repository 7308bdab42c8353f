// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "src/optimizers/clip.h"

namespace headroom {

/// The 2-norms of the gradients of a step, by what is trained. Only numbers are kept, so that
/// looking adds nothing to the peak; each norm is taken in the gradient's own dtype, since a wider
/// one would copy it.
class GradientNorms {
 public:
  explicit GradientNorms(std::size_t trained) : norms_(trained) {}

  /// Called when a gradient arrives, and again when all are finished: a technique may free it
  /// between, or scale it. An undefined one is left out. Waits for the device.
  void note(std::size_t index, const at::Tensor& gradient);
  bool has(std::size_t index) const { return norms_[index].has_value(); }
  /// Of all together, of those that ranks share once; empty where they overflowed, as scaled fp16
  /// may. All ranks ask for it together.
  std::optional<double> total(const GradientShare& share, at::Device device) const;

 private:
  std::vector<std::optional<double>> norms_;  // nothing where that got no gradient
};

}  // namespace headroom
