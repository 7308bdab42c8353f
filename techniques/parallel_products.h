// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "models/layers.h"
#include "src/distributed/token_parts.h"
#include "techniques/step.h"

namespace headroom {

/// Products of which each rank computes a part: tensor parallelism. Column-parallel layers need
/// nothing of other ranks, and backward sums the gradient of their input; row-parallel layers sum
/// their outputs. With `sequence_parallel` these sums leave each rank its own tokens,
/// and what is not a product works on those alone: sequence parallelism. Their input is then
/// gathered, and gathered again for backward, so that no rank keeps all tokens.
/// Source: Shoeybi et al. 2019, arXiv:1909.08053; Korthikanti et al. 2022, arXiv:2205.05198.
class ParallelProducts final : public BlockProducts {
 public:
  /// The step outlives it.
  ParallelProducts(Step& step, bool sequence_parallel)
      : step_(step), sequence_parallel_(sequence_parallel) {}

  at::Tensor enter_blocks(const at::Tensor& x) override;
  at::Tensor leave_blocks(const at::Tensor& x) override;
  std::vector<at::Tensor> column_parallel(const at::Tensor& x, std::int64_t tokens,
                                          std::initializer_list<Linear> layers) override;
  at::Tensor row_parallel(const at::Tensor& x, std::int64_t tokens, const Linear& layer) override;

  /// All tokens of x, of which this rank has its own: x itself without sequence_parallel.
  at::Tensor all_tokens(const at::Tensor& x, std::int64_t dimension) const;
  at::Tensor own_tokens(const at::Tensor& x, std::int64_t dimension) const;
  /// The sum of x over ranks, of this rank's tokens. Writes over x.
  at::Tensor sum(const at::Tensor& x, std::int64_t dimension) const;
  bool sequence_parallel() const { return sequence_parallel_; }

 private:
  Step& step_;
  bool sequence_parallel_;
  std::optional<TokenParts> parts_;  // of the batch that is in the blocks, with sequence_parallel
};

}  // namespace headroom
