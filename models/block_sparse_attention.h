// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace headroom {

/// Attention of H heads by blocks of b tokens, n of them: the first and the last block read all
/// keys; each other one the first, the last, itself, its two neighbours and R more. T = n * b.
struct BlockSparseInputs {
  at::Tensor q, k, v;  // (B, H, T, D)
  at::Tensor counts;   // (B, T) int64, or floating: 1 where a token counts, else 0
  at::Tensor random;   // (B, H, n - 2, R) int64: the R blocks of keys
  std::int64_t block;  // b
};

/// -> (B, T, H * D), zeros where a token does not count. Operations, and how long their results
/// live, are those of transformers' BigBirdBlockSparseAttention. With `whole_probabilities` it puts
/// together, as transformers 5.23 does and 5.0 did not, the (B, H, T, T) of them that nobody reads,
/// and gives them with the result: they live as long as the caller lets them.
struct BlockSparseOutput {
  at::Tensor mixed;
  at::Tensor probabilities;  // or undefined
};
BlockSparseOutput attend_block_sparse(const BlockSparseInputs& inputs, bool whole_probabilities);

}  // namespace headroom
