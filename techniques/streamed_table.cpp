// SPDX-License-Identifier: Apache-2.0
#include "techniques/streamed_table.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_unique2.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "src/memory/host_memory.h"

namespace headroom {

StreamedTable::StreamedTable(at::Tensor parameter, at::Device device,
                             const StreamedUnit::Dtypes& dtypes)
    : parameter_(std::move(parameter)),
      device_(device),
      unit_({parameter_}, device, {dtypes.on_host, dtypes.on_host}) {}

std::int64_t StreamedTable::most_elements(std::int64_t ids) const {
  return std::min(on_host().size(0), ids + 1) * on_host().size(1);
}

at::Tensor StreamedTable::rows_of(const at::Tensor& buffer) const {
  const std::int64_t width = on_host().size(1);
  return buffer.narrow(0, 0, rows_.numel() * width).view({-1, width});
}

at::Tensor StreamedTable::fetch(const at::Tensor& ids, const at::Tensor& buffer) {
  const at::NoGradGuard no_grad;
  const at::Tensor on_cpu = ids.to(at::kCPU);
  const at::Tensor named = at::cat({at::zeros({1}, on_cpu.options()), on_cpu.flatten()});
  const auto [rows, place, counts] = at::_unique2(named, /*sorted=*/true, /*return_inverse=*/true);
  rows_ = rows;
  const at::Tensor on_device = rows_of(buffer);
  const at::Tensor table = on_host().detach();
  at::Tensor picked = host_buffer(on_device.sizes(), table.scalar_type(), device_);
  at::index_select_out(picked, table, 0, rows_);
  if (buffer.scalar_type() != table.scalar_type()) {
    picked = host_buffer_like(on_device).copy_(picked);
  }
  on_device.copy_(picked, /*non_blocking=*/true);
  parameter_.set_data(on_device);
  return place.narrow(0, 1, on_cpu.numel()).view(on_cpu.sizes());
}

void StreamedTable::put_gradients_in(const at::Tensor& buffer) const {
  const at::NoGradGuard no_grad;
  at::Tensor(parameter_).mutable_grad() = rows_of(buffer).zero_();
}

void StreamedTable::send_gradients() {
  const at::NoGradGuard no_grad;
  const at::Tensor gradient = std::exchange(parameter_.mutable_grad(), at::Tensor());
  const at::Tensor on_host = host_buffer_like(gradient);
  sent_.push_back({rows_, on_host.copy_(gradient, /*non_blocking=*/true)});
}

void StreamedTable::take_gradients() {
  const at::NoGradGuard no_grad;
  if (sent_.empty()) return;
  const at::ScalarType dtype = sent_.front().gradients.scalar_type();
  const at::Tensor sum = host_buffer(on_host().sizes(), dtype, device_).zero_();
  for (const Sent& sent : sent_) sum.index_add_(0, sent.rows, sent.gradients);
  sent_.clear();
  at::Tensor(on_host()).mutable_grad() = sum;
}

}  // namespace headroom
