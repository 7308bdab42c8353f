// SPDX-License-Identifier: Apache-2.0
// What each technique of one device saves, by the ledger, against the formula in its row.
// Of several ranks: tests/ranks. Units: techniques/technique.h; p: one parameter's count.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/techniques/contract.h"

namespace headroom {
namespace {

constexpr std::int64_t kBlocks = 12;                       // L
constexpr std::int64_t kInputBytes = 8L * 5L * 192L * 4L;  // B T D in fp32: what enters a block

Json with_batch(Json values, std::int64_t size) {
  values["train"]["batch_size"] = size;
  return values;
}

std::int64_t saved_bytes(const Json& values) { return train(values, 1).saved_bytes; }

TEST(SgdMemory, HasNoState) {
  const Trained adam = train(small_vit(), 1);
  const Trained sgd = train(with(small_vit(), {technique("sgd")}), 1);
  const Trained momentum = train(with(small_vit(), {technique("sgd", {{"momentum", 0.9}})}), 1);
  EXPECT_EQ(adam.state_bytes, 8 * adam.evidence.parameter_count);
  EXPECT_EQ(sgd.state_bytes, 0);
  EXPECT_EQ(momentum.state_bytes, 4 * adam.evidence.parameter_count);
}

TEST(Bfloat16Memory, HalvesWeightsGradientsAndState) {
  const Trained plain = train(small_vit(), 1);
  const Trained narrow = train(with(small_vit(), {technique("bfloat16")}), 1);
  EXPECT_EQ(plain.weight_bytes, 4 * plain.evidence.parameter_count);
  EXPECT_EQ(narrow.weight_bytes, 2 * plain.evidence.parameter_count);
  EXPECT_EQ(2 * narrow.most_gradient_bytes, plain.most_gradient_bytes);
  EXPECT_EQ(narrow.state_bytes, 4 * plain.evidence.parameter_count);
  EXPECT_NEAR(static_cast<double>(narrow.saved_bytes) / static_cast<double>(plain.saved_bytes), 0.5,
              0.02);
}

TEST(MixedPrecisionMemory, HalvesWhatGrowsWithTheBatch) {
  const auto of_a_sample = [](const Json& values) {
    return static_cast<double>(saved_bytes(with_batch(values, 8)) -
                               saved_bytes(with_batch(values, 4))) /
           4.0;
  };
  const double plain = of_a_sample(small_vit());
  const Json mixed = with(small_vit(), {technique("mixed_precision", {{"dtype", "bfloat16"}})});
  const double ratio = of_a_sample(mixed) / plain;
  EXPECT_GT(ratio, 0.45);
  EXPECT_LT(ratio, 0.75);  // layer normalisations stay in fp32
  EXPECT_EQ(train(mixed, 1).weight_bytes, train(small_vit(), 1).weight_bytes);
}

TEST(OptimizerOffloadMemory, HasAllStateOnTheHost) {
  const Trained moved = train(with(small_vit(), {technique("optimizer_offload")}), 2);
  const std::int64_t scalars = 2 * 4;  // of the fused kernel: updates done and skipped
  EXPECT_EQ(moved.state_bytes, 0);
  EXPECT_EQ(moved.evidence.device_state_bytes, 0);
  EXPECT_EQ(moved.evidence.host_state_bytes, 8 * moved.evidence.parameter_count + scalars);
  EXPECT_EQ(moved.host_pool_bytes, 16 * moved.evidence.parameter_count + scalars);
}

TEST(ActivationCheckpointingMemory, IsOfInputsOfBlocksAlone) {
  const auto checkpointed = [](std::int64_t every) {
    return saved_bytes(
        with(small_vit(), {technique("activation_checkpointing", {{"every", every}})}));
  };
  // What is kept outside of the blocks does not depend on how many blocks are one.
  const std::int64_t outside = checkpointed(kBlocks) - kInputBytes;
  EXPECT_EQ(checkpointed(1), kBlocks * kInputBytes + outside);
  EXPECT_EQ(checkpointed(3), kBlocks / 3 * kInputBytes + outside);
  EXPECT_EQ(checkpointed(5), 3 * kInputBytes + outside);
  EXPECT_GT(saved_bytes(small_vit()), 5 * checkpointed(1));
  EXPECT_LE(outside, 3 * kInputBytes);
}

/// Of a block's forward: three products for attention and one behind it, one that widens by 4 and
/// one back, and attention's own two.
constexpr std::int64_t kNumbers = kInputBytes / 4;  // B T D
constexpr std::int64_t kLastProduct = 2 * kNumbers * 4 * 192;
constexpr std::int64_t kForwardFlops =
    2 * kLastProduct + 2 * kNumbers * 4 * 192 + 2 * 2 * kNumbers * 5;

TEST(ActivationCheckpointingCost, IsTheForwardOfTheBlocksAgain) {
  const Trained plain = train(small_vit(), 1);
  const Trained again = train(with(small_vit(), {technique("activation_checkpointing")}), 1);
  EXPECT_EQ(again.evidence.recomputed_blocks, kBlocks);
  // The last product of a block need not run again.
  EXPECT_EQ(again.evidence.flops - plain.evidence.flops, kBlocks * (kForwardFlops - kLastProduct));
}

TEST(ActivationOffloadMemory, LosesWhatBlocksSaveFrom16KibOn) {
  const Trained plain = train(small_vit(), 2);
  const Trained moved = train(with(small_vit(), {technique("activation_offload")}), 2);
  EXPECT_GT(plain.kept_in_blocks_bytes, 0);
  EXPECT_EQ(moved.evidence.offloaded_bytes, plain.kept_in_blocks_bytes);
  EXPECT_EQ(moved.evidence.fetched_bytes, plain.kept_in_blocks_bytes);
  EXPECT_LT(moved.saved_bytes, plain.saved_bytes / 4);
  EXPECT_EQ(moved.host_pool_bytes, 0);  // handed back with the graph
}

TEST(CompressedActivationsMemory, HasAByteForEachNumberAndEightForEach256) {
  const Trained plain = train(small_vit(), 1);
  const Trained narrow = train(with(small_vit(), {technique("compressed_activations")}), 1);
  const std::int64_t taken = narrow.evidence.compressed_bytes;
  EXPECT_GT(taken, plain.saved_bytes / 2);
  EXPECT_EQ(narrow.evidence.bytes_of_codes, taken / 4 + taken / 4 / 256 * 8);
  EXPECT_EQ(plain.saved_bytes - narrow.saved_bytes, taken - narrow.evidence.bytes_of_codes);
}

TEST(CompressedActivationsTest, LeavesForwardAsItIsAndGradientsNearby) {
  for (const Json& values : {small_vit(), small_bert()}) {
    const Trained plain = train(values, 1);
    const Trained narrow = train(with(values, {technique("compressed_activations")}), 1);
    EXPECT_EQ(loss_distance(narrow, plain), 0.0);
    EXPECT_GT(gradient_distance(narrow, plain), 0.0);
    EXPECT_LE(gradient_distance(narrow, plain), 2e-2);
  }
}

// Of GELU and the product behind it: without it, the input of each.
TEST(RecomputedNonlinearityMemory, KeepsOneTensorOfTheFeedForwardLayerForEachBlock) {
  const auto saves = [](const Json& values) {
    const Trained with_it = train(with(values, {technique("recomputed_nonlinearity")}), 1);
    EXPECT_GT(with_it.evidence.recomputed_halves, 0);
    return saved_bytes(values) - with_it.saved_bytes;
  };
  constexpr std::int64_t kBert = 4L * 8L * 16L * 1024L * 4L;  // 4 L B T I
  constexpr std::int64_t kGpt2 = 4L * 8L * 4L * 1024L * 4L;   // the same of fewer tokens
  EXPECT_EQ(saves(small_vit()), kBlocks * 4L * kInputBytes);  // I is 4 D
  EXPECT_EQ(saves(small_bert()), kBert);
  EXPECT_EQ(saves(small_gpt2()), 4 * kGpt2);  // its GELU is written out, in eight operations
}

TEST(GradientAccumulationMemory, HasTheActivationsOfOneMicroBatch) {
  const Json values = with(small_vit(), {technique("gradient_accumulation")});  // 4 of 2 samples
  const std::int64_t of_two = saved_bytes(with_batch(small_vit(), 2));
  EXPECT_EQ(saved_bytes(values), of_two);
  const auto ratio =
      static_cast<double>(saved_bytes(small_vit())) / static_cast<double>(saved_bytes(values));
  EXPECT_NEAR(ratio, 4.0, 0.02);
}

TEST(ChunkedLossMemory, KeepsNoLogits) {
  const std::int64_t tokens = 8L * 4L;                 // B T
  const std::int64_t logits = tokens * 50257L * 4L;    // B T V in fp32
  const std::int64_t normalised = tokens * 256L * 4L;  // B T D, which the head's product reads
  const std::int64_t statistics = 2L * tokens * 4L;    // of that normalisation
  const std::int64_t targets_and_count = tokens * 8L + 4L;
  const std::int64_t count_of_chunked = 8L;
  const Trained plain = train(small_gpt2(), 1);
  const auto chunked = [](std::int64_t chunks) {
    return train(with(small_gpt2(), {technique("chunked_loss", {{"chunks", chunks}})}), 1);
  };
  const Trained two = chunked(2);
  const Trained four = chunked(4);
  EXPECT_EQ(plain.saved_bytes - two.saved_bytes,
            logits + normalised + statistics + targets_and_count - count_of_chunked);
  EXPECT_EQ(four.saved_bytes, two.saved_bytes);
  EXPECT_EQ(two.evidence.loss_chunks, 2);
  EXPECT_EQ(four.evidence.loss_chunks, 4);
}

TEST(OptimizerInBackwardMemory, HasOneGradientAtATime) {
  const Trained plain = train(small_vit(), 2);
  const Trained early = train(with(small_vit(), {technique("optimizer_in_backward")}), 2);
  std::vector<std::int64_t> sizes;
  for (const at::Tensor& weight : plain.weights) {
    sizes.push_back(static_cast<std::int64_t>(weight.nbytes()));
  }
  std::ranges::sort(sizes, std::greater());
  EXPECT_EQ(plain.most_gradient_bytes, 4 * plain.evidence.parameter_count);
  EXPECT_GE(early.most_gradient_bytes, sizes[0]);
  EXPECT_LE(early.most_gradient_bytes, sizes[0] + sizes[1]);
}

TEST(OnDeviceInitMemory, HasOneParameterCastAtATime) {
  const Trained staged = train(with(small_vit(), {technique("bfloat16")}), 1);
  const Trained direct =
      train(with(small_vit(), {technique("bfloat16"), technique("on_device_init")}), 1);
  const std::int64_t all = staged.evidence.parameter_count;  // P
  std::int64_t made = 0;                                     // of the parameters so far
  std::int64_t staged_peak = 4 * all;
  std::int64_t direct_peak = 0;
  std::int64_t largest = 0;
  for (const at::Tensor& weight : staged.weights) {
    const std::int64_t p = weight.numel();
    staged_peak = std::max(staged_peak, 4 * all - 2 * made + 2 * p);
    direct_peak = std::max(direct_peak, 2 * made + (4 + 2) * p);
    largest = std::max(largest, p);
    made += p;
  }
  EXPECT_EQ(staged.init_peak_bytes, staged_peak);
  EXPECT_EQ(direct.init_peak_bytes, direct_peak);
  EXPECT_GT(staged.init_peak_bytes - direct.init_peak_bytes, 2 * all - 4 * largest);
  EXPECT_EQ(staged.evidence.staged_parameter_bytes, 4 * all);
  EXPECT_EQ(direct.evidence.staged_parameter_bytes, 0);
}

}  // namespace
}  // namespace headroom
