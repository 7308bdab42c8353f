// SPDX-License-Identifier: Apache-2.0
#include "src/worker/ceiling.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randn.h>

#include <algorithm>
#include <chrono>

namespace headroom {

double product_ceiling(c10::Device device, at::ScalarType dtype) {
  const at::NoGradGuard no_grad;
  const std::int64_t size = device.is_cpu() ? 1024 : 8192;
  const auto options = at::TensorOptions().device(device).dtype(dtype);
  const at::Tensor a = at::randn({size, size}, options);
  const at::Tensor b = at::randn({size, size}, options);
  double shortest = 1e300;
  for (int repeat = 0; repeat < 8; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    at::mm(a, b)[0][0].item<double>();  // reading one element waits for the product
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    shortest = std::min(shortest, seconds.count());
  }
  return 2.0 * static_cast<double>(size * size * size) / shortest;
}

}  // namespace headroom
