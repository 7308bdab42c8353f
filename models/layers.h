// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "models/parameters.h"

// The layers that the models share: tensors and what is done with them. `name` is the layer's name
// in the Python reference; its parameters are `name.weight` and `name.bias`.
namespace headroom {

/// x W^T + b over the last dimension.
struct Linear {
  at::Tensor weight;  // (out, in)
  at::Tensor bias;    // (out)

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

// What BERT and DistilBERT share: the uncased vocabulary, absolute positions.
inline constexpr std::int64_t kBertVocabulary = 30522;
inline constexpr std::int64_t kBertPositions = 512;
inline constexpr std::int64_t kPaddingToken = 0;
inline constexpr double kBertEpsilon = 1e-12;  // of all layer normalisations

/// (1, T): 0, 1, ... for ids (B, T), on their device.
at::Tensor position_ids(const at::Tensor& ids);

}  // namespace headroom
