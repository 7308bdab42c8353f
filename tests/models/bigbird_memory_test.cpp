// SPDX-License-Identifier: Apache-2.0
// What a layer of BigBird keeps for backward, by the formula of docs/models.md.
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "models/block_sparse_attention.h"
#include "models/table.h"
#include "src/memory/saved_tensors.h"

namespace headroom {
namespace {

// B texts, T tokens with the padding, D width, H heads, b tokens of a block, R random blocks.
struct LayerSize {
  std::int64_t texts, tokens, width, heads, block, random;

  std::int64_t numbers() const { return texts * tokens * width; }
};

/// Numbers are of 4 bytes, those of random blocks of 8.
std::int64_t bytes_of_attention(const LayerSize& s) {
  const std::int64_t of_blocks = (16 + 2 * s.random) * s.numbers();
  const std::int64_t fewer_at_ends = (16 + 4 * s.random) * s.texts * s.block * s.width;
  const std::int64_t probabilities =
      s.texts * s.heads * s.block * ((7 + s.random) * s.tokens - (12 + 2 * s.random) * s.block);
  const std::int64_t counts = s.texts * s.tokens;
  const std::int64_t drawn = s.texts * s.heads * (s.tokens / s.block - 2) * s.random;
  return 4 * (of_blocks - fewer_at_ends + probabilities + counts) + 8 * drawn;
}

/// Beside attention: five tensors as wide as the layer, five as wide as its feed-forward layer, and
/// two statistics of each of two normalisations.
std::int64_t bytes_of_layer(const LayerSize& s) {
  constexpr std::int64_t kInner = 4;  // I / D
  return bytes_of_attention(s) + 4 * (5 * s.numbers() + 5 * kInner * s.numbers()) +
         4 * (4 * s.texts * s.tokens);
}

/// By autograd, each storage once, but for parameters.
std::int64_t kept_bytes(const std::function<at::Tensor()>& forward,
                        std::span<const Parameter> parameters = {}) {
  std::map<const void*, std::int64_t> kept;
  at::Tensor result;  // keeps what is kept
  {
    const SavedTensorObserver observer([&kept](const at::Tensor& tensor) {
      kept[tensor.storage().data()] = static_cast<std::int64_t>(tensor.storage().nbytes());
    });
    result = forward();
  }
  for (const Parameter& parameter : parameters) kept.erase(parameter.tensor.storage().data());
  std::int64_t bytes = 0;
  for (const auto& [storage, size] : kept) bytes += size;
  return bytes;
}

std::int64_t kept_by_attention(const LayerSize& s) {
  const auto heads = [&s] {  // (B, H, T, D / H), as a layer makes them
    return at::randn({s.texts, s.tokens, s.width})
        .requires_grad_()
        .view({s.texts, s.tokens, s.heads, -1})
        .transpose(1, 2);
  };
  const std::int64_t blocks = s.tokens / s.block;
  const BlockSparseInputs inputs{
      .q = heads(),
      .k = heads(),
      .v = heads(),
      .counts = at::ones({s.texts, s.tokens}),
      .random = at::randint(1, blocks - 1, {s.texts, s.heads, blocks - 2, s.random}, at::kLong),
      .block = s.block};
  return kept_bytes(
      [&] { return attend_block_sparse(inputs, /*whole_probabilities=*/false).mixed; });
}

TEST(BigBirdMemory, OfAttentionIsThatOfTheFormula) {
  for (const LayerSize& size : {LayerSize{2, 96, 64, 2, 8, 3}, LayerSize{3, 96, 64, 2, 8, 3},
                                LayerSize{2, 104, 64, 2, 8, 3}, LayerSize{2, 96, 48, 2, 8, 3},
                                LayerSize{2, 96, 48, 3, 8, 3}, LayerSize{2, 96, 48, 3, 4, 3},
                                LayerSize{2, 96, 48, 3, 4, 1}}) {
    EXPECT_EQ(kept_by_attention(size), bytes_of_attention(size));
  }
}

/// Of the first layer; parameters are zeros.
std::int64_t kept_by_layer(const std::string& name, const LayerSize& s, std::int64_t tokens) {
  const auto model = find_model(name).make({.name = name}, {.sequence_length = tokens},
                                           {at::kCPU, at::kFloat, Start::zeros});
  const at::Tensor x = at::randn({s.texts, s.tokens, s.width}).requires_grad_();
  return kept_bytes([&] { return model->blocks()[0].run(x); }, model->parameters());
}

TEST(BigBirdMemory, OfALayerIsThatOfTheFormula) {
  const LayerSize mini{3, 96, 64, 2, 8, 3};
  EXPECT_EQ(kept_by_layer("bigbird_mini", mini, 96), bytes_of_layer(mini));
  const LayerSize padded{2, 104, 64, 2, 8, 3};
  EXPECT_EQ(kept_by_layer("bigbird_mini", padded, 97), bytes_of_layer(padded));
  const LayerSize base{2, 768, 768, 12, 64, 3};
  EXPECT_EQ(kept_by_layer("bigbird_roberta_base", base, 768), bytes_of_layer(base));
}

}  // namespace
}  // namespace headroom
