// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/layers.h"
#include "techniques/step.h"

namespace headroom {

/// What stands beside a weight: W + scale * B A. The handles are parameters of the model.
struct LowRank {
  at::Tensor a;  // (rank, in)
  at::Tensor b;  // (out, rank)
  double scale = 1.0;
};

/// By key_of() a weight as the model keeps it.
using LowRankOfWeight = std::unordered_map<const void*, LowRank>;

/// Products x W^T + bias + scale * (x A^T) B^T, of those layers that have A and B. Of them backward
/// keeps x, for A, and x A^T, for B. B A is never made: it would be as large as W.
/// Source: Hu et al. 2021, arXiv:2106.09685.
class LowRankProducts final : public BlockProducts {
 public:
  /// `count` is raised by one for each product by A and B, and outlives it.
  LowRankProducts(LowRankOfWeight low_rank, std::int64_t& count)
      : low_rank_(std::move(low_rank)), count_(count) {}

  std::vector<at::Tensor> column_parallel(const at::Tensor& x, std::int64_t tokens,
                                          std::initializer_list<Linear> layers) override;
  at::Tensor row_parallel(const at::Tensor& x, std::int64_t tokens, const Linear& layer) override;

 private:
  at::Tensor product(const at::Tensor& x, const Linear& layer) const;

  LowRankOfWeight low_rank_;
  std::int64_t& count_;
};

/// W + scale * B A, on the CPU. W is (out, in), or, if it `is_transposed`, (in, out).
at::Tensor merged(const at::Tensor& weight, const LowRank& low_rank, bool is_transposed);

}  // namespace headroom
