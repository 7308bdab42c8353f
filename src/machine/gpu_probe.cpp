// SPDX-License-Identifier: Apache-2.0
#include "src/machine/gpu_probe.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/ones.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>

#include <stdexcept>
#include <string>

namespace headroom {
namespace {

double one_and_one(at::Device device) {
  const at::Tensor one = at::ones({1}, at::TensorOptions(device));
  return (one + one).item<double>();
}

void probe(at::Device device) {
  std::string wrong;
  try {
    const double sum = one_and_one(device);
    if (sum == 2) return;
    wrong = "1 and 1 are " + std::to_string(sum) + " there";
  } catch (const c10::Error& error) {
    wrong = error.what_without_backtrace();
    if (is_taken(wrong)) return;
  }
  throw std::runtime_error(device.str() + ": " + wrong.substr(0, wrong.find('\n')));
}

}  // namespace

bool is_taken(const std::string& error) {
  return error.find("out of memory") != std::string::npos ||
         error.find("busy or unavailable") != std::string::npos;  // in a mode for one process alone
}

void probe_gpus(std::int64_t count) {
  const c10::impl::VirtualGuardImpl cuda(at::kCUDA);
  for (c10::DeviceIndex i = 0; i < cuda.deviceCount() && i < count; ++i) {
    probe(at::Device(at::kCUDA, i));
  }
}

}  // namespace headroom
