// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <span>

namespace headroom {

/// Scales an fp16 loss up, so that small gradients do not vanish, and the gradients down again. The
/// scale halves after an overflow and doubles after 2,000 updates without one. All of it happens on
/// the device; the host is told nothing unless it asks.
/// Source: Micikevicius et al. 2018, arXiv:1710.03740; constants of torch.amp.GradScaler.
class LossScaler {
 public:
  /// `device`: that of the gradients.
  explicit LossScaler(at::Device device);

  at::Tensor scale(const at::Tensor& loss) const;
  /// Divides the gradients of the parameters by the scale, in place, and looks for overflow.
  void unscale_gradients(std::span<const at::Tensor> parameters);
  /// Shape (1) on the device: above 0 where the last gradients overflowed.
  at::Tensor& found_inf() { return found_inf_; }
  /// Adapts the scale, once an update.
  void adapt();

  double current_scale() const;  // waits for the device

 private:
  at::Tensor scale_;      // (1) fp32
  at::Tensor growth_;     // (1) int32, updates since the last overflow
  at::Tensor found_inf_;  // (1) fp32
};

}  // namespace headroom
