// SPDX-License-Identifier: Apache-2.0
// What lora trains, keeps and saves. On the models of training.h: D is 256 of bert_mini, which has
// 4 blocks.
#include <gtest/gtest.h>

#include "tests/techniques/contract.h"

namespace headroom {
namespace {

constexpr std::int64_t kFloatSize = 4;          // bytes
constexpr std::int64_t kBertBlocks = 4;         // L
constexpr std::int64_t kBertTokens = 8L * 16L;  // B T
constexpr std::int64_t kBertWidth = 256;        // D
constexpr std::int64_t kBertInner = 1024;       // I
constexpr std::int64_t kBertClassifier = 5L * kBertWidth + 5L;
constexpr std::int64_t kLoraRank = 4;

Json lora(const char* targets) {
  return technique("lora", {{"rank", kLoraRank}, {"targets", targets}});
}

/// A and B of layers of so many inputs and outputs together.
std::int64_t low_rank(std::int64_t inputs_and_outputs) {
  return kBertBlocks * kLoraRank * inputs_and_outputs;
}

constexpr std::int64_t kQueryKeyValue = 3 * 2 * kBertWidth;
constexpr std::int64_t kAttention = kQueryKeyValue + 2 * kBertWidth;
constexpr std::int64_t kAllLinear = kAttention + 2 * (kBertWidth + kBertInner);

TEST(LoraMemory, HasGradientsAndStateOfWhatIsTrainedAlone) {
  const std::int64_t all = trained_once(small_bert(), 1).evidence.parameter_count;  // P
  const std::pair<const char*, std::int64_t> targets[] = {
      {"query_key_value", low_rank(kQueryKeyValue)},
      {"attention", low_rank(kAttention)},
      {"all_linear", low_rank(kAllLinear)}};
  for (const auto& [name, added] : targets) {
    SCOPED_TRACE(name);
    const Trained trained = train(with(small_bert(), {lora(name)}), 2);
    EXPECT_EQ(trained.inactive, "");
    EXPECT_EQ(trained.evidence.parameter_count, added + kBertClassifier);
    EXPECT_EQ(trained.evidence.frozen_count, all - kBertClassifier);
    EXPECT_EQ(trained.evidence.trained_bytes, kFloatSize * (added + kBertClassifier));
    EXPECT_EQ(trained.weight_bytes, kFloatSize * (all + added));
    EXPECT_EQ(trained.most_gradient_bytes, kFloatSize * (added + kBertClassifier));
    EXPECT_EQ(trained.state_bytes, 2 * kFloatSize * (added + kBertClassifier));
  }
}

// A layer keeps its input where it has A, and x A^T for B.
TEST(LoraMemory, KeepsNoInputOfAFrozenLayer) {
  const auto saved = [](const char* targets) {
    return train(with(small_bert(), {lora(targets)}), 1).saved_bytes;
  };
  const std::int64_t product = kFloatSize * kBertBlocks * kBertTokens;
  // Attention's kernel keeps its output anyhow.
  EXPECT_EQ(saved("attention") - saved("query_key_value"), product * kLoraRank);
  EXPECT_EQ(saved("all_linear") - saved("attention"),
            product * (kBertWidth + kBertInner + 2 * kLoraRank));
}

TEST(LoraMemory, HasNoClassifierToTrainWhereTokensAreTold) {
  const Trained trained = train(with(small_gpt2(), {lora("query_key_value")}), 1);
  EXPECT_EQ(trained.evidence.parameter_count,
            kBertBlocks * kLoraRank * (kBertWidth + 3 * kBertWidth));
}

}  // namespace
}  // namespace headroom
