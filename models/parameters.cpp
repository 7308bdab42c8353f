// SPDX-License-Identifier: Apache-2.0
#include "models/parameters.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>

#include <cmath>
#include <numbers>

namespace headroom {
namespace {

at::TensorOptions full_precision(at::Device device, at::ScalarType dtype) {
  return at::TensorOptions().device(device).dtype(dtype == at::kDouble ? at::kDouble : at::kFloat);
}

double normal_cdf(double x) { return (1.0 + std::erf(x / std::numbers::sqrt2)) / 2.0; }

}  // namespace

at::Tensor ParameterFactory::normal(const std::string& name, at::IntArrayRef shape, double stddev) {
  return keep(name, at::empty(shape, full_precision(device_, dtype_)).normal_(0.0, stddev));
}

at::Tensor ParameterFactory::truncated_normal(const std::string& name, at::IntArrayRef shape,
                                              double stddev) {
  // The inverse of the cumulative distribution, applied to uniform values in its image of [-2, 2].
  const double low = 2.0 * normal_cdf(-2.0 / stddev) - 1.0;
  const double high = 2.0 * normal_cdf(2.0 / stddev) - 1.0;
  at::Tensor values = at::empty(shape, full_precision(device_, dtype_)).uniform_(low, high);
  return keep(name, values.erfinv_().mul_(stddev * std::numbers::sqrt2).clamp_(-2.0, 2.0));
}

at::Tensor ParameterFactory::uniform(const std::string& name, at::IntArrayRef shape, double bound) {
  return keep(name, at::empty(shape, full_precision(device_, dtype_)).uniform_(-bound, bound));
}

at::Tensor ParameterFactory::constant(const std::string& name, at::IntArrayRef shape,
                                      double value) {
  return keep(name, at::full(shape, value, full_precision(device_, dtype_)));
}

at::Tensor ParameterFactory::keep(const std::string& name, at::Tensor full_precision) {
  at::Tensor tensor = full_precision.to(dtype_).requires_grad_();
  parameters_.push_back({name, tensor});
  return tensor;
}

}  // namespace headroom
