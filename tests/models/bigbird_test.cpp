// SPDX-License-Identifier: Apache-2.0
// Attention by blocks, and which blocks.
#include <ATen/ops/cat.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "models/block_sparse_attention.h"
#include "models/random_blocks.h"
#include "models/table.h"
#include "src/core/error.h"
#include "tests/models/golden.h"

namespace headroom {
namespace {

constexpr BlockSparse kMiniBlocks{.block = 8, .random = 3, .positions = 1024};
constexpr BlockSparse kBaseBlocks{.block = 64, .random = 3, .positions = 4096};

TEST(RandomBlocks, AreThoseThatTheReferenceDraws) {
  for (const nlohmann::json& entry : golden().at("random_blocks")) {
    const bool mini = entry.at("model") == "bigbird_mini";
    const std::vector<std::int64_t> drawn =
        random_blocks(mini ? kMiniBlocks : kBaseBlocks, entry.at("tokens").get<std::int64_t>(),
                      mini ? 2 : 12, entry.at("seed").get<std::uint32_t>());
    ASSERT_EQ(drawn.size(), entry.at("count").get<std::size_t>());
    const std::vector<std::int64_t> first(drawn.begin(), drawn.begin() + 12);
    EXPECT_EQ(first, entry.at("first").get<std::vector<std::int64_t>>()) << entry;
    std::uint64_t folded = 0;
    for (const std::int64_t block : drawn) folded = folded * 31 + static_cast<std::uint64_t>(block);
    EXPECT_EQ(folded, entry.at("folded").get<std::uint64_t>()) << entry;
  }
}

constexpr std::int64_t kTexts = 2, kSparseHeads = 2, kSparseTokens = 104, kSparseWidth = 6;
constexpr std::int64_t kSparseBlocks = kSparseTokens / 8;

/// Random q, k and v, the blocks of layer 1, and a second text that lacks its last 11 tokens.
BlockSparseInputs random_inputs() {
  const auto values = [] {
    return at::rand({kTexts, kSparseHeads, kSparseTokens, kSparseWidth}, at::kDouble);
  };
  const at::Tensor drawn =
      at::tensor(random_blocks(kMiniBlocks, kSparseTokens, kSparseHeads, 1), at::kLong);
  at::Tensor counts = at::ones({kTexts, kSparseTokens}, at::kLong);
  counts.select(0, 1).narrow(0, kSparseTokens - 11, 11).zero_();
  return {.q = values(),
          .k = values(),
          .v = values(),
          .counts = counts,
          .random = drawn.view({1, kSparseHeads, kSparseBlocks - 2, kMiniBlocks.random})
                        .expand({kTexts, -1, -1, -1})
                        .contiguous(),
          .block = kMiniBlocks.block};
}

/// Which keys each query reads, by the definition: (B, H, T, T) bool.
at::Tensor read_keys(const BlockSparseInputs& in) {
  at::Tensor read = at::zeros({kTexts, kSparseHeads, kSparseBlocks, kSparseBlocks}, at::kBool);
  for (std::int64_t row = 0; row < kSparseBlocks; ++row) {
    const auto mark = [&](std::int64_t block) { read.select(2, row).select(2, block).fill_(true); };
    for (std::int64_t block = 0; block < kSparseBlocks; ++block) {
      const bool whole = row == 0 || row == kSparseBlocks - 1;
      const bool all_read = block == 0 || block == kSparseBlocks - 1;
      if (whole || all_read || std::abs(row - block) <= 1) mark(block);
    }
    if (row == 0 || row == kSparseBlocks - 1) continue;
    read.select(2, row).scatter_(2, in.random.select(2, row - 1), true);
  }
  read = read.repeat_interleave(in.block, 2).repeat_interleave(in.block, 3);
  return read.logical_and(in.counts.view({kTexts, 1, 1, kSparseTokens}).to(at::kBool));
}

/// softmax(Q K^T / sqrt(D)) over the keys that are read.
at::Tensor full_probabilities(const BlockSparseInputs& in) {
  const at::Tensor scores =
      at::matmul(in.q, in.k.transpose(2, 3)).div(std::sqrt(static_cast<double>(kSparseWidth)));
  return at::softmax(scores.masked_fill(read_keys(in).logical_not(), -1e4), -1);
}

double largest_difference(const at::Tensor& a, const at::Tensor& b) {
  return a.sub(b).abs().max().item<double>();
}

TEST(BlockSparseAttention, IsFullAttentionToTheBlocksThatAreRead) {
  const BlockSparseInputs in = random_inputs();
  const at::Tensor counts = in.counts.view({kTexts, 1, kSparseTokens, 1});
  const at::Tensor mixed = at::matmul(full_probabilities(in), in.v).mul(counts);
  const at::Tensor expected = mixed.transpose(1, 2).reshape({kTexts, kSparseTokens, -1});
  const BlockSparseOutput actual = attend_block_sparse(in, false);
  EXPECT_LT(largest_difference(actual.mixed, expected), 1e-12);
  EXPECT_FALSE(actual.probabilities.defined());
}

// Of queries that do not count nobody reads any.
TEST(BlockSparseAttention, PutsTogetherWhatItMultipliedBy) {
  const BlockSparseInputs in = random_inputs();
  const at::Tensor counts = in.counts.view({kTexts, 1, kSparseTokens, 1});
  const at::Tensor actual = attend_block_sparse(in, true).probabilities.mul(counts);
  EXPECT_LT(largest_difference(actual, full_probabilities(in).mul(counts)), 1e-12);
}

std::string refusal_of_attention(const std::string& attention, std::int64_t tokens) {
  const nlohmann::json entry{
      {"model", "bigbird_mini"}, {"num_classes", 2}, {"image_size", 0}, {"tokens", tokens}};
  try {
    make_golden_model(entry, {.attention = attention});
  } catch (const Unsupported& error) {
    return error.what();
  }
  return "";
}

TEST(BigBird, AttendsByBlocksFromATokenMoreThanItsBlocksReadOn) {
  EXPECT_EQ(kMiniBlocks.most_full(), 88);
  EXPECT_EQ(kBaseBlocks.most_full(), 704);
  for (const char* attention : {"automatic", "eager"})
    EXPECT_EQ(refusal_of_attention(attention, 89), "");
  for (const char* attention : {"flash", "efficient", "cudnn", "math", "eager_torch_1_10"}) {
    EXPECT_EQ(refusal_of_attention(attention, 88), "");
    EXPECT_EQ(refusal_of_attention(attention, 89),
              "bigbird_mini attends by blocks to more than 88 tokens, which no kernel does: "
              "attention can be automatic or eager, not '" +
                  std::string(attention) + "'");
  }
}

}  // namespace
}  // namespace headroom
