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
      dtype_(dtypes.on_device),
      unit_({parameter_}, device, {dtypes.on_host, dtypes.on_host}) {}

at::Tensor StreamedTable::fetch(const at::Tensor& ids) {
  const at::NoGradGuard no_grad;
  const at::Tensor on_cpu = ids.to(at::kCPU);
  const at::Tensor named = at::cat({at::zeros({1}, on_cpu.options()), on_cpu.flatten()});
  const auto [rows, place, counts] = at::_unique2(named, /*sorted=*/true, /*return_inverse=*/true);
  rows_ = rows;
  reserve(std::min(on_host().size(0), named.numel()));
  const at::Tensor on_device = weights_.narrow(0, 0, rows_.numel());
  const at::Tensor table = on_host().detach();
  at::Tensor picked = host_buffer(on_device.sizes(), table.scalar_type(), device_);
  at::index_select_out(picked, table, 0, rows_);
  if (dtype_ != table.scalar_type()) picked = host_buffer_like(on_device).copy_(picked);
  on_device.copy_(picked, /*non_blocking=*/true);
  parameter_.set_data(on_device);
  return place.narrow(0, 1, on_cpu.numel()).view(on_cpu.sizes());
}

/// As many rows as a batch of that shape can name, so that what is taken does not depend on values.
void StreamedTable::reserve(std::int64_t rows) {
  if (weights_.defined() && weights_.size(0) >= rows) return;
  const auto on_device = at::device(device_).dtype(dtype_);
  weights_ = at::empty({rows, on_host().size(1)}, on_device);
  gradients_ = at::empty({rows, on_host().size(1)}, on_device);
}

std::int64_t StreamedTable::row_bytes() const {
  return static_cast<std::int64_t>(parameter_.nbytes());
}

void StreamedTable::put_gradients() {
  const at::NoGradGuard no_grad;
  parameter_.mutable_grad() = gradients_.narrow(0, 0, rows_.numel()).zero_();
}

at::Tensor StreamedTable::send_gradients() const {
  const at::NoGradGuard no_grad;
  const at::Tensor gradient = std::exchange(at::Tensor(parameter_).mutable_grad(), at::Tensor());
  return host_buffer_like(gradient).copy_(gradient, /*non_blocking=*/true);
}

void StreamedTable::take_gradients(const at::Tensor& arrived) const {
  const at::NoGradGuard no_grad;
  const at::Tensor gradient = host_buffer(on_host().sizes(), arrived.scalar_type(), device_);
  at::Tensor(on_host()).mutable_grad() = gradient.zero_().index_copy_(0, rows_, arrived);
}

}  // namespace headroom
