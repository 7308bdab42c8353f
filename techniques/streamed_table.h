// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "techniques/streamed_unit.h"

namespace headroom {

/// A table of tokens' vectors, (V, D), that stays on the host. On the device are the rows that one
/// micro-batch names, and their gradients, each row once.
class StreamedTable {
 public:
  /// Takes over the parameter, as a StreamedUnit does.
  StreamedTable(at::Tensor parameter, at::Device device, const StreamedUnit::Dtypes& dtypes);

  const at::Tensor& parameter() const { return parameter_; }
  /// The table on the host, (V, D), a leaf: for an optimizer.
  const at::Tensor& on_host() const { return unit_.on_host()[0]; }
  void receive(const at::Tensor& values) { unit_.receive(0, values); }

  /// Elements of a buffer that holds what so many ids may name.
  std::int64_t most_elements(std::int64_t ids) const;
  /// Copies the rows that these ids name, and the first, padding, whether it is named or not, into
  /// a buffer on the device, on the current stream, and makes the parameter of them, (rows, D).
  /// Gives the ids as rows of that. ids: (B, T) int64, on any device; the result is on the CPU.
  at::Tensor fetch(const at::Tensor& ids, const at::Tensor& buffer);
  /// Bytes of the rows on the device.
  std::int64_t row_bytes() const { return static_cast<std::int64_t>(parameter_.nbytes()); }

  /// Makes the parameter's gradient zeros in a buffer, to which backward adds.
  void put_gradients_in(const at::Tensor& buffer) const;
  /// Starts copying the gradient to the host, on the current stream, and takes it from the
  /// parameter.
  void send_gradients();
  /// Makes the sum of all that was sent, and has arrived, the gradient of on_host().
  void take_gradients();

 private:
  /// What was sent of one micro-batch.
  struct Sent {
    at::Tensor rows;       // (rows) int64
    at::Tensor gradients;  // (rows, D) on the host
  };

  at::Tensor rows_of(const at::Tensor& buffer) const;

  at::Tensor parameter_;
  at::Device device_;
  StreamedUnit unit_;
  at::Tensor rows_;  // (rows) int64: the table's that are on the device, ascending
  std::vector<Sent> sent_;
};

}  // namespace headroom
