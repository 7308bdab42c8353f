// SPDX-License-Identifier: Apache-2.0
#include "src/distributed/flat_unit.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <utility>

#include "src/memory/host_memory.h"

namespace headroom {

FlatUnit::FlatUnit(std::vector<at::Tensor> parameters, ProcessGroup& group,
                   const FlatUnitOptions& options)
    : parameters_(std::move(parameters)), group_(group), options_(options) {
  const at::NoGradGuard no_grad;
  std::int64_t elements = 0;
  for (const at::Tensor& parameter : parameters_) {
    starts_.push_back(elements);
    elements += parameter.numel();
  }
  const std::int64_t count = (elements + group.ranks() - 1) / group.ranks();
  const auto on_device = at::device(group.device());
  whole_ = at::empty({count * group.ranks()}, on_device.dtype(options.gather_dtype));
  if (!options.gathered) whole_.narrow(0, elements, whole_.numel() - elements).zero_();
  if (options.shares_memory()) {
    part_ = whole_.narrow(0, group.rank() * count, count).detach();
  } else {
    part_ = at::empty({count}, on_device.dtype(options.dtype));
    if (options.part_on_host) part_ = host_buffer_like(part_);
    part_.zero_();
  }
  part_.set_requires_grad(parameters_.front().requires_grad());
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const at::Tensor& parameter = parameters_[i];
    if (headroom::is_allocated(parameter)) receive(i, parameter);
    const at::Tensor view = whole_.narrow(0, starts_[i], parameter.numel());
    parameter.set_data(view.view(parameter.sizes()));
  }
  if (options.gathered) release();
}

void FlatUnit::receive(std::size_t parameter, const at::Tensor& values) {
  const at::NoGradGuard no_grad;
  const at::Tensor flat = values.detach().reshape({-1});
  if (!options_.gathered) whole_.narrow(0, starts_[parameter], flat.numel()).copy_(flat);
  if (options_.shares_memory()) return;
  const Elements own = own_elements(parameter);
  own.values.copy_(flat.narrow(0, own.begin, own.end - own.begin));
}

FlatUnit::Elements FlatUnit::own_elements(std::size_t parameter) const {
  const std::int64_t start = starts_[parameter];
  const std::int64_t part_start = group_.rank() * part_.numel();
  const std::int64_t from = std::max(start, part_start);
  const std::int64_t to =
      std::min(start + parameters_[parameter].numel(), part_start + part_.numel());
  if (from >= to) return {0, 0, part_.detach().narrow(0, 0, 0)};  // they are other ranks' alone
  return {from - start, to - start, part_.detach().narrow(0, from - part_start, to - from)};
}

at::Tensor FlatUnit::fetch_part() const {
  if (!options_.part_on_host && options_.dtype == options_.gather_dtype) return part_;
  const at::NoGradGuard no_grad;
  at::Tensor fetched = at::empty(part_.sizes(), whole_.options());
  return fetched.copy_(part_, /*non_blocking=*/true);
}

Collective FlatUnit::gather(const at::Tensor& fetched) {
  Collective gathering = group_.all_gather(whole_, fetched);
  if (fetched.is_alias_of(part_)) return gathering;
  return std::move(gathering).then([fetched] { release_storage(fetched); });
}

std::int64_t FlatUnit::fetched_bytes() const {
  return options_.part_on_host ? static_cast<std::int64_t>(part_.nbytes()) : 0;
}

at::Tensor FlatUnit::take_gradient(const SideStream& stream) const {
  const at::NoGradGuard no_grad;
  stream.follow_current();
  const SideStream::Scope scope(stream);
  std::vector<at::Tensor> flat;
  std::int64_t missing = whole_.numel();
  for (const at::Tensor& parameter : parameters_) {
    at::Tensor& gradient = at::Tensor(parameter).mutable_grad();
    missing -= parameter.numel();
    if (gradient.defined()) stream.keep(gradient);
    flat.push_back(gradient.defined() ? gradient.reshape({-1})
                                      : at::zeros({parameter.numel()}, whole_.options()));
    gradient.reset();
  }
  if (missing > 0) flat.push_back(at::zeros({missing}, whole_.options()));
  return at::cat(flat);
}

}  // namespace headroom
