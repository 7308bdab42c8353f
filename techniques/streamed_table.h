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

  /// Copies the rows that these ids name to the device, on the current stream, and makes the
  /// parameter of them, (rows, D). Gives the ids as rows of that. The first row of the table is the
  /// first of these, whether it is named or not: padding.
  /// ids: (B, T) int64, on any device; the result is on the CPU.
  at::Tensor fetch(const at::Tensor& ids);
  /// Bytes of the rows on the device.
  std::int64_t row_bytes() const;

  /// Makes the parameter's gradient zeros, (rows, D), to which backward adds.
  void put_gradients();
  /// As those of a StreamedUnit: what arrived are the rows' gradients.
  at::Tensor send_gradients() const;
  void take_gradients(const at::Tensor& arrived) const;

  /// The memory on the device: of weights and gradients.
  const at::Tensor& weights() const { return weights_; }
  const at::Tensor& gradients() const { return gradients_; }

 private:
  void reserve(std::int64_t rows);

  at::Tensor parameter_;
  at::Device device_;
  at::ScalarType dtype_;  // on the device
  StreamedUnit unit_;
  at::Tensor rows_;       // (rows) int64: the table's that are on the device, ascending
  at::Tensor weights_;    // (most rows so far, D)
  at::Tensor gradients_;  // likewise
};

}  // namespace headroom
