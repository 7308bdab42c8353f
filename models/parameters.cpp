// SPDX-License-Identifier: Apache-2.0
#include "models/parameters.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <c10/util/Exception.h>
#include <c10/util/accumulate.h>
#include <sys/mman.h>

#include "src/core/shared_pages.h"

namespace headroom {
namespace {

/// What values are drawn in. The CPU's generator draws coarse numbers in 16 bits (a uniform one
/// that rounds to 1 becomes an infinite normal one); a GPU draws in fp32 and rounds each.
at::TensorOptions drawn(at::Device device, at::ScalarType dtype) {
  const bool narrow_on_cpu = device.is_cpu() && dtype != at::kDouble;
  return at::TensorOptions().device(device).dtype(narrow_on_cpu ? at::kFloat : dtype);
}

/// A CPU tensor whose values don't matter.
at::Tensor shared(at::IntArrayRef shape, const at::TensorOptions& options) {
  const std::size_t bytes = c10::multiply_integers(shape) * options.dtype().itemsize();
  void* address = map_shared_pages(bytes);
  TORCH_CHECK_WITH(OutOfMemoryError, address != MAP_FAILED, "can't map ", bytes, " bytes");
  return at::from_blob(
      address, shape, [bytes](void* freed) { munmap(freed, bytes); }, options);
}

}  // namespace

std::vector<Parameter> ParameterFactory::take() {
  hand_over_last();
  return std::exchange(parameters_, {});
}

/// A layer may change a parameter after it was made, but not once it makes the next.
void ParameterFactory::hand_over_last() {
  if (made_ && !parameters_.empty()) made_(parameters_.size() - 1, parameters_.back().tensor);
}

at::Tensor ParameterFactory::normal(const std::string& name, at::IntArrayRef shape, double stddev) {
  hand_over_last();
  const at::Tensor values = empty(shape);
  return keep(name, start_ == Start::drawn ? values.normal_(0.0, stddev) : values.zero_());
}

at::Tensor ParameterFactory::uniform(const std::string& name, at::IntArrayRef shape, double bound) {
  hand_over_last();
  const at::Tensor values = empty(shape);
  return keep(name, start_ == Start::drawn ? values.uniform_(-bound, bound) : values.zero_());
}

at::Tensor ParameterFactory::constant(const std::string& name, at::IntArrayRef shape,
                                      double value) {
  hand_over_last();
  return keep(name, at::full(shape, value, drawn(device_, dtype_)));
}

at::Tensor ParameterFactory::buffer(const std::string& name, at::IntArrayRef shape, double value) {
  const at::TensorOptions options = at::TensorOptions().device(device_).dtype(dtype_);
  buffers_.push_back({name, at::full(shape, value, options)});
  return buffers_.back().tensor;
}

at::Tensor ParameterFactory::counter(const std::string& name) {
  const at::TensorOptions options = at::TensorOptions().device(device_).dtype(at::kLong);
  buffers_.push_back({name, at::full({}, 0, options)});
  return buffers_.back().tensor;
}

at::Tensor ParameterFactory::empty(at::IntArrayRef shape) const {
  const at::TensorOptions options = drawn(device_, dtype_);
  return start_ == Start::zeros && device_.is_cpu() ? shared(shape, options)
                                                    : at::empty(shape, options);
}

at::Tensor ParameterFactory::keep(const std::string& name, at::Tensor values) {
  at::Tensor tensor = values.to(dtype_).requires_grad_();
  parameters_.push_back({name, tensor});
  return tensor;
}

}  // namespace headroom
