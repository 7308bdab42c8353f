// SPDX-License-Identifier: Apache-2.0
#include "techniques/streamed_unit.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <utility>

#include "src/memory/device_memory.h"
#include "src/memory/host_memory.h"

namespace headroom {
namespace {

constexpr std::int64_t kAlignedBytes = 256;

}  // namespace

StreamedUnit::StreamedUnit(std::vector<at::Tensor> parameters, at::Device device,
                           const Dtypes& dtypes)
    : parameters_(std::move(parameters)) {
  const at::NoGradGuard no_grad;
  const auto narrower =
      std::min(c10::elementSize(dtypes.on_host), c10::elementSize(dtypes.on_device));
  const std::int64_t step = kAlignedBytes / static_cast<std::int64_t>(narrower);
  for (const at::Tensor& parameter : parameters_) {
    starts_.push_back(elements_);
    elements_ += (parameter.numel() + step - 1) / step * step;
  }
  kept_ = host_buffer({elements_}, dtypes.on_host, device).zero_();
  fetched_ = dtypes.on_host == dtypes.on_device
                 ? kept_
                 : host_buffer({elements_}, dtypes.on_device, device).zero_();
  on_host_ = views_of(kept_);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (is_allocated(parameters_[i])) receive(i, parameters_[i]);
    on_host_[i] = on_host_[i].detach().set_requires_grad(parameters_[i].requires_grad());
  }
}

std::vector<at::Tensor> StreamedUnit::views_of(const at::Tensor& flat) const {
  std::vector<at::Tensor> views;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    views.push_back(
        flat.narrow(0, starts_[i], parameters_[i].numel()).view(parameters_[i].sizes()));
  }
  return views;
}

void StreamedUnit::receive(std::size_t parameter, const at::Tensor& values) {
  const at::NoGradGuard no_grad;
  on_host_[parameter].detach().copy_(values);
  if (fetched_.is_same(kept_)) return;
  views_of(fetched_)[parameter].copy_(on_host_[parameter]);
}

std::int64_t StreamedUnit::fetch(const at::Tensor& buffer) const {
  const at::NoGradGuard no_grad;
  buffer.narrow(0, 0, elements_).copy_(fetched_, /*non_blocking=*/true);
  return static_cast<std::int64_t>(fetched_.nbytes());
}

void StreamedUnit::put_in(const at::Tensor& buffer) const {
  const at::NoGradGuard no_grad;
  const std::vector<at::Tensor> views = views_of(buffer);
  for (std::size_t i = 0; i < parameters_.size(); ++i) parameters_[i].set_data(views[i]);
}

void StreamedUnit::put_gradients_in(const at::Tensor& buffer) const {
  const at::NoGradGuard no_grad;
  buffer.narrow(0, 0, elements_).zero_();
  const std::vector<at::Tensor> views = views_of(buffer);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].requires_grad()) at::Tensor(parameters_[i]).mutable_grad() = views[i];
  }
}

at::Tensor StreamedUnit::send_gradients(const at::Tensor& buffer) const {
  const at::NoGradGuard no_grad;
  for (const at::Tensor& parameter : parameters_) at::Tensor(parameter).mutable_grad().reset();
  const at::Tensor gradients = buffer.narrow(0, 0, elements_);
  return host_buffer_like(gradients).copy_(gradients, /*non_blocking=*/true);
}

void StreamedUnit::take_gradients(const at::Tensor& arrived) const {
  const at::NoGradGuard no_grad;
  const std::vector<at::Tensor> views = views_of(arrived);
  for (std::size_t i = 0; i < on_host_.size(); ++i) {
    if (on_host_[i].requires_grad()) at::Tensor(on_host_[i]).mutable_grad() = views[i];
  }
}

void StreamedUnit::publish() const {
  const at::NoGradGuard no_grad;
  if (!fetched_.is_same(kept_)) fetched_.copy_(kept_);
}

}  // namespace headroom
