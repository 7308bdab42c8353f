// SPDX-License-Identifier: Apache-2.0
// Techniques beside batch normalisation, whose statistics are those of a micro-batch.
#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "models/data/loader.h"
#include "src/worker/case.h"
#include "tests/techniques/training.h"

namespace headroom {
namespace {

Json accumulating(std::int64_t micro_batches) {
  return technique("gradient_accumulation", {{"micro_batches", micro_batches}});
}

std::int64_t batches_counted(const Trained& trained) {
  for (const at::Tensor& buffer : trained.buffers) {
    if (buffer.scalar_type() == at::kLong) return buffer.item<std::int64_t>();
  }
  return -1;
}

/// What the case's model says of the first batch of its data, `of_a_part` samples at a time.
double mean_loss_of_parts(const Json& values, std::int64_t of_a_part) {
  const WorkerCase read = read_case(values, at::kCPU);
  const Recipe& recipe = read.recipe;
  const auto data =
      find_data(recipe.data.name).make(recipe.data, recipe.model.num_classes, recipe.train.seed);
  Loader loader(*data, recipe.data, recipe.train.batch_size, recipe.train.seed);
  const Batch batch = loader.next();
  at::manual_seed(static_cast<std::uint64_t>(recipe.train.seed));
  const auto model = find_model(recipe.model.name)
                         .make(recipe.model, recipe.data.shape(), {at::kCPU, recipe.dtype});
  double sum = 0.0;
  for (std::int64_t start = 0; start < batch.size(); start += of_a_part) {
    const std::int64_t count = std::min(of_a_part, batch.size() - start);
    sum += static_cast<double>(count) * model->loss(batch.slice(start, count)).item<double>();
  }
  return sum / static_cast<double>(batch.size());
}

// 8 samples in 3, 3 and 2: each micro-batch is normalised by itself.
TEST(BatchStatistics, OfAccumulationAreThoseOfItsMicroBatches) {
  const Trained plain = train(mini_resnet(), 2);
  const Trained split = train(with(mini_resnet(), {accumulating(3)}), 2);
  EXPECT_NEAR(plain.losses[0], mean_loss_of_parts(mini_resnet(), 8), 1e-6);
  EXPECT_NEAR(split.losses[0], mean_loss_of_parts(mini_resnet(), 3), 1e-6);
  EXPECT_GT(std::abs(split.losses[0] - plain.losses[0]), 1e-3);
  EXPECT_EQ(batches_counted(plain), 2);
  EXPECT_EQ(batches_counted(split), 6);
}

// PyTorch's checkpoint takes each batch's statistics twice.
TEST(BatchStatistics, OfABlockThatRunsAgainCountOnce) {
  const Trained plain = train(mini_resnet(), 2);
  for (const Json& options :
       {Json::object(), Json{{"every", 2}, {"nested", 4}}, Json{{"reentrant", true}}}) {
    const Trained again =
        train(with(mini_resnet(), {technique("activation_checkpointing", options)}), 2);
    EXPECT_GT(again.evidence.recomputed_blocks, 0);
    EXPECT_TRUE(same_bits(again, plain)) << options;
    EXPECT_EQ(batches_counted(again), 2);
  }
}

TEST(BatchStatistics, OfARecomputationAreThoseOfItsMicroBatch) {
  const Trained split = train(with(mini_resnet(), {accumulating(3)}), 2);
  const Trained both =
      train(with(mini_resnet(), {accumulating(3), technique("activation_checkpointing")}), 2);
  EXPECT_TRUE(same_bits(both, split));
}

// 6 bottlenecks of 8 to 64 channels: of each normalised channel two numbers and the count.
TEST(BatchStatistics, AreWeightsToTheLedgerAndAsNarrow) {
  const auto bytes_of = [](const std::vector<at::Tensor>& tensors) {
    std::int64_t bytes = 0;
    for (const at::Tensor& tensor : tensors) bytes += static_cast<std::int64_t>(tensor.nbytes());
    return bytes;
  };
  constexpr std::int64_t kChannels = 64                                       // stem
                                     + 2 * (8 + 8 + 32) + 2 * (16 + 16 + 64)  // blocks
                                     + (32 + 32 + 128) + (64 + 64 + 256)      //
                                     + 32 + 64 + 128 + 256;                   // downsampling
  constexpr std::int64_t kNorms = 1 + 6 * 3 + 4;
  const Trained plain = train(mini_resnet(), 1);
  EXPECT_EQ(bytes_of(plain.buffers), 2 * 4 * kChannels + 8 * kNorms);
  EXPECT_EQ(plain.weight_bytes, bytes_of(plain.weights) + bytes_of(plain.buffers));
  const Trained narrow = train(with(mini_resnet(), {technique("bfloat16")}), 1);
  EXPECT_EQ(bytes_of(narrow.buffers), 2 * 2 * kChannels + 8 * kNorms);
  EXPECT_EQ(narrow.weight_bytes, bytes_of(narrow.weights) + bytes_of(narrow.buffers));
  const Trained sharded =
      train(with(mini_resnet(), {technique("fsdp", {{"parameter_dtype", "bfloat16"}})}), 1);
  EXPECT_EQ(bytes_of(sharded.buffers), bytes_of(narrow.buffers));
}

// Of blocks their inputs stay, of which no two have to be alike; beside them what the ends save.
TEST(BatchStatistics, CheckpointingKeepsTheInputsOfBlocksOfAnyShape) {
  const Trained again = train(with(mini_resnet(), {technique("activation_checkpointing")}), 1);
  constexpr std::int64_t kSample = 64 * 16 * 16 + 2 * 32 * 16 * 16 + 2 * 64 * 8 * 8 +
                                   128 * 4 * 4         // inputs of blocks
                                   + 2 * 64 * 32 * 32  // stem: normalised, rectified
                                   + 2 * 64 * 16 * 16  // int64 places of its maxima
                                   + 256 + 10;         // head: input, log-softmax
  constexpr std::int64_t kBatch = 2 * 64 + 1;  // the stem's mean and deviation; the loss's weight
  EXPECT_EQ(again.saved_bytes, 4 * (8 * kSample + kBatch));
}

}  // namespace
}  // namespace headroom
