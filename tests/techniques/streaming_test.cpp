// SPDX-License-Identifier: Apache-2.0
// Streaming by blocks: what it holds and moves, to the byte, and that nothing but the order
// differs.
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "models/data/loader.h"
#include "src/worker/case.h"
#include "src/worker/trainer.h"
#include "tests/core/messages.h"
#include "tests/techniques/contract.h"

namespace headroom {
namespace {

constexpr int kStreamedSteps = 2;
constexpr std::int64_t kFloatBytes = 4;

Json streamed(const Json& values, const Json& options = Json::object()) {
  return with(values, {technique("layer_streaming", options)});
}

/// The updates of the host are the fused ones.
Json with_host_updates(Json values) {
  values["train"]["optimizer"]["implementation"] = "fused";
  return values;
}

Json in_micro_batches(const Json& values, int count) {
  return with(values, {technique("gradient_accumulation", {{"micro_batches", count}})});
}

/// Bytes of a model's parameters behind one another, each from a multiple of 256 on.
struct Sizes {
  std::int64_t block = 0;  // all are alike
  std::int64_t blocks = 0;
  std::int64_t ends = 0;  // what no block reads, without a table of tokens
};

Sizes sizes_of(const Json& values) {
  const WorkerCase read = read_case(values, at::kCPU);
  const auto model = find_model(read.recipe.model.name)
                         .make(read.recipe.model, read.recipe.data.shape(),
                               ParameterFactory(at::kCPU, at::kFloat, Start::zeros));
  const auto by_block = model->parameters_by_block();
  const auto bytes = [&](const std::vector<std::size_t>& indices) {
    std::int64_t sum = 0;
    for (const std::size_t i : indices) {
      const at::Tensor& parameter = model->parameters()[i].tensor;
      if (model->token_table().defined() && parameter.is_same(model->token_table())) continue;
      sum += (static_cast<std::int64_t>(parameter.nbytes()) + 255) / 256 * 256;
    }
    return sum;
  };
  return {bytes(by_block[0]), static_cast<std::int64_t>(by_block.size()) - 1,
          bytes(by_block.back())};
}

TEST(LayerStreamingMemory, IsOfTwoBlocksWhateverTheModelHas) {
  const Sizes sizes = sizes_of(small_vit());
  const Trained moved = train(streamed(small_vit()), kStreamedSteps);
  EXPECT_EQ(sizes.blocks, 12);
  EXPECT_EQ(moved.weight_bytes, 2 * sizes.block + sizes.ends);
  EXPECT_EQ(moved.most_gradient_bytes, 2 * sizes.block + sizes.ends);
  EXPECT_EQ(moved.state_bytes, 0);
  const std::int64_t scalars = 2 * 4;  // of the fused kernel: updates done and skipped
  EXPECT_EQ(moved.evidence.host_state_bytes, 8 * moved.evidence.parameter_count + scalars);
}

TEST(LayerStreamingMemory, HasTheRowsOfABatchOfATable) {
  const Sizes sizes = sizes_of(small_bert());
  const Trained moved = train(streamed(small_bert()), kStreamedSteps);
  const std::int64_t rows = 8 * 16 + 1;              // tokens of a micro-batch, and padding
  EXPECT_LE(rows * 256 * kFloatBytes, sizes.block);  // they lie where blocks do at other times
  EXPECT_EQ(moved.weight_bytes, 2 * sizes.block + sizes.ends);
  EXPECT_EQ(moved.most_gradient_bytes, 2 * sizes.block + sizes.ends);
}

TEST(LayerStreamingMemory, HasMoreRowsThanABlockIsLarge) {
  Json values = small_bert();
  values["data"]["sequence_length"] = 512;
  const Sizes sizes = sizes_of(values);
  const std::int64_t table = (8 * 512 + 1) * 256 * kFloatBytes;
  const Trained moved = train(streamed(values), 1);
  EXPECT_GT(table, sizes.block);
  EXPECT_EQ(moved.weight_bytes, 2 * sizes.block + sizes.ends + table);
  EXPECT_EQ(moved.most_gradient_bytes, 2 * sizes.block + sizes.ends + table);
}

TEST(LayerStreamingCost, IsEachBlockTwiceAStepInHoweverManyMicroBatches) {
  const Sizes sizes = sizes_of(small_vit());
  const std::int64_t between = 8L * 5L * 192L * kFloatBytes;      // B T D
  const std::int64_t images = 8L * 3L * 32L * 32L * kFloatBytes;  // for embed() in backward
  for (const int micro_batches : {2, 8}) {
    const Trained moved =
        train(streamed(in_micro_batches(small_vit(), micro_batches)), kStreamedSteps);
    EXPECT_EQ(moved.inactive, "");
    EXPECT_EQ(moved.evidence.fetched_bytes,
              kStreamedSteps * (2 * 12 * sizes.block + sizes.ends + 12 * between + images));
    EXPECT_EQ(moved.evidence.offloaded_bytes,
              kStreamedSteps * (12 * sizes.block + sizes.ends + 12 * between));
    EXPECT_EQ(moved.evidence.recomputed_blocks, kStreamedSteps * 12 * micro_batches);
  }
}

TEST(StreamingTest, RestoresTheRandomStateOfEachRun) {
  for (Json values : {small_vit(), small_bert(), small_gpt2(), small_llama()}) {
    values["model"]["attention"] = "eager";
    values["model"]["dropout"] = 0.1;
    const Json plain = with_host_updates(values);  // draws in the same order
    EXPECT_TRUE(same_bits(train(streamed(values), kStreamedSteps), train(plain, kStreamedSteps)));
  }
}

TEST(StreamingTest, UpdatesWhatIsClippedBehindTheLastGradient) {
  Json values = small_vit();
  values["train"]["max_gradient_norm"] = 0.5;
  const Trained plain = train(with_host_updates(values), kStreamedSteps);
  EXPECT_GT(plain.gradient_norm, 0.5);
  EXPECT_TRUE(same_bits(train(streamed(values), kStreamedSteps), plain));
}

TEST(StreamingTest, ComputesIn16BitsAndUpdatesIn32) {
  for (const Json& values : {small_vit(), small_bert()}) {
    const Trained plain = train(values, kStreamedSteps);
    const Trained narrow =
        train(streamed(values, {{"parameter_dtype", "bfloat16"}}), kStreamedSteps);
    EXPECT_EQ(narrow.inactive, "");
    EXPECT_LE(loss_distance(narrow, plain), 5e-2);
    EXPECT_GT(loss_distance(narrow, plain), 0.0);
    EXPECT_EQ(narrow.evidence.trained_bytes, kFloatBytes * narrow.evidence.parameter_count);
  }
}

/// Tells the classes of held-out samples behind a step.
at::Tensor logits_behind_a_step(const Json& values) {
  const WorkerCase read = read_case(values, at::kCPU);
  const Recipe& recipe = read.recipe;
  Ledger ledger;
  Trainer trainer(recipe, read.techniques, ledger);
  const auto data =
      find_data(recipe.data.name).make(recipe.data, recipe.model.num_classes, recipe.train.seed);
  Loader loader(*data, recipe.data, recipe.train.batch_size, recipe.train.seed);
  trainer.step(loader.next());
  const at::NoGradGuard no_grad;
  return trainer.model().logits(loader.next());
}

TEST(StreamingTest, EvaluatesAsAModelThatIsWhole) {
  for (const Json& values : {small_vit(), small_bert(), small_gpt2(), small_llama()}) {
    EXPECT_TRUE(logits_behind_a_step(streamed(values))
                    .equal(logits_behind_a_step(with_host_updates(values))));
  }
}

}  // namespace
}  // namespace headroom
