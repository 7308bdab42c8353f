// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>

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

}  // namespace headroom
