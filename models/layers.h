// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "models/parameters.h"

// The layers that the models share: tensors and what is done with them. `name` is the layer's name
// in the Python reference; its parameters are `name.weight` and `name.bias`.
namespace headroom {

/// x W^T + b over the last dimension.
struct Linear {
  at::Tensor weight;     // (out, in)
  at::Tensor bias = {};  // (out), or undefined: none

  at::Tensor operator()(const at::Tensor& x) const;
};

/// Layer normalisation over the last dimension.
struct LayerNorm {
  at::Tensor weight;  // (D), made as ones
  at::Tensor bias;    // (D), made as zeros
  double epsilon;

  LayerNorm(ParameterFactory& parameters, const std::string& name, std::int64_t width, double eps);
  at::Tensor operator()(const at::Tensor& x) const;
};

/// A vector for each id: (B, T) int64 -> (B, T, D).
struct Embedding {
  static constexpr std::int64_t kNoPadding = -1;

  at::Tensor weight;                        // (rows, D)
  std::int64_t padding_index = kNoPadding;  // a row that gets no gradient

  at::Tensor operator()(const at::Tensor& ids) const;
};

inline constexpr double kInitializerRange = 0.02;  // of transformers' configurations

/// As transformers makes them: weights normal with a standard deviation of kInitializerRange,
/// biases zero, the row of the padding index zero.
Linear normal_linear(ParameterFactory& parameters, const std::string& name, std::int64_t in,
                     std::int64_t out);
Embedding normal_embedding(ParameterFactory& parameters, const std::string& name,
                           at::IntArrayRef shape,
                           std::int64_t padding_index = Embedding::kNoPadding);

/// The same without a bias.
Linear unbiased_linear(ParameterFactory& parameters, const std::string& name, std::int64_t in,
                       std::int64_t out);

// What BERT and DistilBERT share: the uncased vocabulary, absolute positions.
inline constexpr std::int64_t kBertVocabulary = 30522;
inline constexpr std::int64_t kBertPositions = 512;
inline constexpr std::int64_t kPaddingToken = 0;
inline constexpr double kBertEpsilon = 1e-12;  // of all layer normalisations

/// (1, T): 0, 1, ... for ids (B, T), on their device.
at::Tensor position_ids(const at::Tensor& ids);

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
