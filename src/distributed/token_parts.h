// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "src/distributed/process_group.h"
#include "src/memory/ledger.h"

namespace headroom {

/// The T tokens of a batch in equal parts, one for each rank: what sequence parallelism hands
/// around. The last parts are padded with zeros, so that any number of ranks can share any number
/// of tokens. A dimension of tokens may have the samples folded in behind them: T * B.
class TokenParts {
 public:
  /// Group and ledger outlive it. Buffers of collectives are booked as communication.
  TokenParts(ProcessGroup& group, Ledger& ledger, std::int64_t tokens);

  /// This rank's tokens of x: (..., T, ...) -> (..., ceil(T / ranks), ...), a copy.
  at::Tensor own(const at::Tensor& x, std::int64_t dimension) const;
  /// All tokens, of those that each rank has: (..., ceil(T / ranks), ...) -> (..., T, ...).
  at::Tensor gather(const at::Tensor& part, std::int64_t dimension) const;
  /// This rank's tokens of the sum of x over ranks. The memory of x is released.
  at::Tensor sum(const at::Tensor& x, std::int64_t dimension) const;

 private:
  std::int64_t own_rows(std::int64_t rows) const { return own_tokens_ * (rows / tokens_); }
  at::Tensor empty_part(const at::Tensor& x, std::int64_t dimension) const;
  void copy_part(const at::Tensor& part, const at::Tensor& x, std::int64_t dimension,
                 std::int64_t rank) const;

  ProcessGroup& group_;
  Ledger& ledger_;
  std::int64_t tokens_;
  std::int64_t own_tokens_;  // of each rank, padding included
};

}  // namespace headroom
