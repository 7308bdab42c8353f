// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "techniques/streamed_unit.h"

namespace headroom {

/// A table of tokens' vectors, (V, D), that stays on the host. On the device are the rows that one
/// batch names, and their gradients, each row once.
class StreamedTable {
 public:
  /// Takes over the parameter, as a StreamedUnit does.
  StreamedTable(at::Tensor parameter, at::Device device, const StreamedUnit::Dtypes& dtypes);

  const at::Tensor& parameter() const { return parameter_; }
  /// The table on the host, (V, D), a leaf: for an optimizer.
  const at::Tensor& on_host() const { return unit_.on_host()[0]; }
  void receive(const at::Tensor& values) { unit_.receive(0, values); }

  /// Elements of a buffer that holds what a batch of so many ids may name.
  std::int64_t most_elements(std::int64_t ids) const;
  /// Picks the rows that these ids name, and the first, padding, whether it is named or not. Gives
  /// the ids as rows of what is picked.
  /// ids: (B, T) int64, on any device; the result is on the CPU.
  at::Tensor pick(const at::Tensor& ids);
  /// Copies the rows into a buffer on the device, on the current stream, and makes the parameter of
  /// them, (rows, D). Gives how many bytes.
  std::int64_t fetch(const at::Tensor& buffer) const;

  /// As those of a StreamedUnit. What arrives are the rows' gradients.
  void put_gradients_in(const at::Tensor& buffer) const;
  at::Tensor send_gradients() const;
  void take_gradients(const at::Tensor& arrived) const;

 private:
  at::Tensor rows_of(const at::Tensor& buffer) const;

  at::Tensor parameter_;
  at::Device device_;
  StreamedUnit unit_;
  at::Tensor rows_;  // (rows) int64: those that are picked, ascending
};

}  // namespace headroom
