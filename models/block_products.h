// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "models/layers.h"

namespace headroom {

/// A layer of a block that ranks may cut for tensor parallelism. Column-parallel: each rank has
/// some of its outputs; row-parallel: each multiplies some of its inputs. `weight` is `sections`
/// layers behind one another, and outputs (or inputs) stay together in groups of `group`, such as a
/// head.
struct ParallelLinear {
  enum class Style { column, row };

  Linear linear;
  Style style;
  std::int64_t group = 1;
  std::int64_t sections = 1;
  bool keeps_transposed = false;  // its weight is kept as (in, out)

  /// The dimension of the kept weight that ranks cut.
  std::int64_t dimension() const { return (style == Style::column) == keeps_transposed ? 1 : 0; }
};

/// How blocks multiply by the weights of their ParallelLinears. This one is that of one rank, which
/// has all of them. A technique may put another in its place, under which a block works on what
/// this rank has: fewer heads, fewer of the inner features, perhaps fewer tokens.
class BlockProducts {
 public:
  virtual ~BlockProducts() = default;

  /// (B, T, D) as embedded -> what blocks hand to each other, (B, T', D); and back.
  virtual at::Tensor enter_blocks(const at::Tensor& x) { return x; }
  virtual at::Tensor leave_blocks(const at::Tensor& x) { return x; }

  /// x, whose dimension `tokens` has T' tokens, through column-parallel layers: of each of them
  /// this rank's outputs, for all T tokens.
  virtual std::vector<at::Tensor> column_parallel(const at::Tensor& x, std::int64_t tokens,
                                                  std::initializer_list<Linear> layers);
  at::Tensor column_parallel(const at::Tensor& x, std::int64_t tokens, const Linear& layer) {
    return column_parallel(x, tokens, {layer})[0];
  }
  /// This rank's inputs of all T tokens, which lie in dimension `tokens`, perhaps with the samples
  /// behind them, through a row-parallel layer: all outputs, of T' tokens.
  virtual at::Tensor row_parallel(const at::Tensor& x, std::int64_t tokens, const Linear& layer);
};

}  // namespace headroom
