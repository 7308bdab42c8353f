// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

// The state of a device's random numbers: what runs twice draws the same ones.
namespace headroom {

/// That of the device's default generator, now.
at::Tensor get_random_state(at::Device device);

/// Sets it for a scope, and restores it also where the scope ends early.
class RandomStateScope {
 public:
  RandomStateScope(at::Device device, const at::Tensor& state);
  ~RandomStateScope();
  RandomStateScope(const RandomStateScope&) = delete;
  RandomStateScope& operator=(const RandomStateScope&) = delete;

 private:
  at::Generator generator_;
  at::Tensor before_;
};

}  // namespace headroom
