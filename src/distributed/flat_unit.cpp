// SPDX-License-Identifier: Apache-2.0
#include "src/distributed/flat_unit.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <utility>

namespace headroom {
namespace {

std::int64_t total_elements(const std::vector<at::Tensor>& tensors) {
  std::int64_t count = 0;
  for (const at::Tensor& tensor : tensors) count += tensor.numel();
  return count;
}

std::int64_t rounded_up(std::int64_t count, std::int64_t multiple) {
  return (count + multiple - 1) / multiple * multiple;
}

}  // namespace

FlatUnit::FlatUnit(std::vector<at::Tensor> parameters, at::Device device, at::ScalarType dtype,
                   ProcessGroup& group, Weights weights)
    : parameters_(std::move(parameters)), group_(group) {
  const at::NoGradGuard no_grad;
  const std::int64_t padded = rounded_up(total_elements(parameters_), group.ranks());
  whole_ = at::empty({padded}, at::device(device).dtype(dtype));
  std::int64_t start = 0;
  for (const at::Tensor& parameter : parameters_) {
    const at::Tensor view = whole_.narrow(0, start, parameter.numel()).view(parameter.sizes());
    view.copy_(parameter);
    parameter.set_data(view);
    start += parameter.numel();
  }
  whole_.narrow(0, start, padded - start).zero_();
  const std::int64_t count = padded / group.ranks();
  part_ = whole_.narrow(0, group.rank() * count, count).detach();
  if (weights == Weights::gathered) {
    part_ = part_.clone();
    release();
  }
  part_.set_requires_grad(parameters_.front().requires_grad());
}

at::Tensor FlatUnit::take_gradient() const {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> flat;
  std::int64_t missing = whole_.numel();
  for (const at::Tensor& parameter : parameters_) {
    at::Tensor& gradient = at::Tensor(parameter).mutable_grad();
    missing -= parameter.numel();
    flat.push_back(gradient.defined() ? gradient.reshape({-1})
                                      : at::zeros({parameter.numel()}, part_.options()));
    gradient.reset();
  }
  if (missing > 0) flat.push_back(at::zeros({missing}, part_.options()));
  return at::cat(flat);
}

}  // namespace headroom
