// SPDX-License-Identifier: Apache-2.0
#include "techniques/streamed_weights.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <utility>

#include "src/memory/device_memory.h"

namespace headroom {

StreamedWeights::StreamedWeights(Step& step, at::Device device, const StreamedUnit::Dtypes& dtypes)
    : step_(step),
      device_(device),
      dtypes_(dtypes),
      indices_(step.model.parameters_by_block()),
      fetch_stream_(device),
      send_stream_(device) {
  const at::Tensor table = step.model.token_table();
  std::size_t table_index = 0;
  for (std::vector<std::size_t>& indices : indices_) {
    std::vector<at::Tensor> parameters;
    for (const std::size_t index : indices) {
      const at::Tensor& parameter = step.model.parameters()[index].tensor;
      if (table.defined() && parameter.is_same(table)) {
        table_index = index;
      } else {
        parameters.push_back(parameter);
      }
    }
    units_.emplace_back(std::move(parameters), device, dtypes);
  }
  if (table.defined()) {
    std::erase(indices_.back(), table_index);
    indices_.push_back({table_index});
    table_.emplace(table, device, dtypes);
  }
  for (const Parameter& parameter : step.model.parameters()) release_storage(parameter.tensor);
}

std::vector<at::Tensor> StreamedWeights::trained() const {
  std::vector<at::Tensor> all(step_.model.parameters().size());
  for (std::size_t unit = 0; unit < units_.size(); ++unit) {
    for (std::size_t i = 0; i < indices_[unit].size(); ++i) {
      all[indices_[unit][i]] = units_[unit].on_host()[i];
    }
  }
  if (table_) all[indices_.back().front()] = table_->on_host();
  return all;
}

void StreamedWeights::receive(std::size_t parameter, const at::Tensor& values) {
  for (std::size_t unit = 0; unit < indices_.size(); ++unit) {
    const auto found = std::ranges::find(indices_[unit], parameter);
    if (found == indices_[unit].end()) continue;
    if (unit == units_.size()) {
      table_->receive(values);
    } else {
      units_[unit].receive(static_cast<std::size_t>(found - indices_[unit].begin()), values);
    }
  }
}

at::Tensor StreamedWeights::make_buffer(std::int64_t elements, Category category) const {
  at::Tensor buffer = at::empty({elements}, at::device(device_).dtype(dtypes_.on_device));
  step_.ledger.tag(buffer, category);
  return buffer;
}

/// At the first use: while the model is made, one parameter at a time is on the device. Two buffers
/// are one allocation, as the allocator rounds each up by as much as 2 MiB.
void StreamedWeights::make_buffers() {
  if (weights_of_ends_.defined()) return;
  std::int64_t most = 0;
  for (std::size_t i = 0; i < blocks(); ++i) most = std::max(most, units_[i].elements());
  const at::Tensor weights = make_buffer(2 * most, Category::weights);
  const at::Tensor gradients = make_buffer(2 * most, Category::gradients);
  for (std::int64_t i = 0; i < 2; ++i) {
    weights_.push_back(weights.narrow(0, i * most, most));
    gradients_.push_back({gradients.narrow(0, i * most, most), std::nullopt});
  }
  weights_of_ends_ = make_buffer(units_[ends()].elements(), Category::weights);
  gradients_of_ends_ = make_buffer(units_[ends()].elements(), Category::gradients);
}

void StreamedWeights::fetch_ends() {
  make_buffers();
  step_.evidence.fetched_bytes += units_[ends()].fetch(weights_of_ends_);
  units_[ends()].put_in(weights_of_ends_);
}

void StreamedWeights::open_ends() { units_[ends()].put_gradients_in(gradients_of_ends_); }

void StreamedWeights::close_ends() {
  send(ends(), [this] { return units_[ends()].send_gradients(gradients_of_ends_); });
  while (!arrivals_.empty()) take_first_arrival();
  if (table_) {
    table_->take_gradients();
    arrived(indices_.back());
  }
  send_stream_.join();  // before the buffers are used again
}

at::Tensor StreamedWeights::fetch_rows(const at::Tensor& inputs) {
  if (!table_) return inputs;
  make_table_buffers(inputs.numel());
  at::Tensor ids = table_->fetch(inputs, weights_of_table_);
  step_.evidence.fetched_bytes += table_->row_bytes();
  return ids;
}

void StreamedWeights::open_rows() {
  if (!table_) return;
  send_stream_.join();  // what was sent from there before
  table_->put_gradients_in(gradients_of_table_);
}

void StreamedWeights::send_rows() {
  if (!table_) return;
  send_stream_.follow_current();
  const SideStream::Scope scope(send_stream_);
  table_->send_gradients();
  step_.evidence.offloaded_bytes += table_->row_bytes();
}

void StreamedWeights::make_table_buffers(std::int64_t ids) {
  const std::int64_t most = table_->most_elements(ids);
  if (weights_of_table_.defined() && weights_of_table_.numel() >= most) return;
  const bool fits = weights_.back().numel() >= most;
  weights_of_table_ = fits ? weights_.back() : make_buffer(most, Category::weights);
  gradients_of_table_ = fits ? gradients_.back().memory : make_buffer(most, Category::gradients);
}

void StreamedWeights::forward(const Work& work) { visit(true, work); }

void StreamedWeights::backward(const Work& work) {
  visit(false, [&](std::size_t block) {
    GradientBuffer& buffer = gradients_[block % 2];
    if (buffer.sent) buffer.sent->join();
    units_[block].put_gradients_in(buffer.memory);
    work(block);
    send(block, [&] { return units_[block].send_gradients(buffer.memory); });
    buffer.sent = arrivals_.back().there;
    // The host works on the gradients before these while the device computes these.
    while (arrivals_.size() > 1) take_first_arrival();
  });
}

void StreamedWeights::visit(bool forward, const Work& work) {
  make_buffers();
  const auto nth = [&](std::size_t i) { return forward ? i : blocks() - 1 - i; };
  fetch(nth(0));
  for (std::size_t i = 0; i < blocks(); ++i) {
    const std::size_t block = nth(i);
    fetch_stream_.join();
    if (i + 1 < blocks()) fetch(nth(i + 1));  // once the block before is done with the buffer
    units_[block].put_in(weights_[block % 2]);
    work(block);
  }
}

void StreamedWeights::fetch(std::size_t block) {
  fetch_stream_.follow_current();
  const SideStream::Scope scope(fetch_stream_);
  step_.evidence.fetched_bytes += units_[block].fetch(weights_[block % 2]);
}

void StreamedWeights::send(std::size_t unit, const std::function<at::Tensor()>& send) {
  send_stream_.follow_current();
  const SideStream::Scope scope(send_stream_);
  const at::Tensor on_host = send();
  step_.evidence.offloaded_bytes += static_cast<std::int64_t>(on_host.nbytes());
  arrivals_.push_back({unit, on_host, StreamPoint(device_)});
}

void StreamedWeights::take_first_arrival() {
  const Arrival arrival = std::move(arrivals_.front());
  arrivals_.pop_front();
  arrival.there.wait();
  units_[arrival.unit].take_gradients(arrival.on_host);
  if (arrived(indices_[arrival.unit])) units_[arrival.unit].publish();
}

void StreamedWeights::publish() const {
  for (const StreamedUnit& unit : units_) unit.publish();
}

void StreamedWeights::with_weights(const std::function<void()>& call) {
  const at::NoGradGuard no_grad;
  const std::vector<at::Tensor> all = trained();
  for (std::size_t i = 0; i < all.size(); ++i) {
    step_.model.parameters()[i].tensor.set_data(
        all[i].detach().to(device_, dtypes_.on_device, /*non_blocking=*/false, /*copy=*/true));
  }
  call();
  for (const Parameter& parameter : step_.model.parameters()) release_storage(parameter.tensor);
}

}  // namespace headroom
