// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>

#include <span>

// What training in two precisions is made of: autocast for a scope, and the loss scaler.
namespace headroom {

/// How autocast is set on this thread, for one type of device.
struct AutocastState {
  c10::DeviceType device = c10::DeviceType::CPU;
  bool enabled = false;
  at::ScalarType dtype = at::kFloat;
  bool keeps_casts = true;  // of weights, until the outermost scope ends

  static AutocastState of_this_thread(c10::DeviceType device);
};

/// Sets autocast for a scope and restores the thread's own settings. When the outermost scope ends,
/// the casts that autocast keeps are dropped.
class AutocastScope {
 public:
  explicit AutocastScope(const AutocastState& state);
  ~AutocastScope();
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
  AutocastState before_;
};

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
