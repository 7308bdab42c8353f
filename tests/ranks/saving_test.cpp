// SPDX-License-Identifier: Apache-2.0
// Each rank saves what it has; whoever loads it, on any number of ranks, has the same weights.
#include <gtest/gtest.h>

#include <map>

#include "tests/ranks/training.h"
#include "tests/support/temporary_folder.h"

namespace headroom {
namespace {

Json in_float64(Json values) {
  values["train"].update({{"precision", "float64"}, {"optimizer", kSgd}});
  return values;
}

/// The same weights, once loaded and not trained.
std::vector<RankSaw> load(Json values, const std::string& folder) {
  values["model"]["weights"] = folder;
  values["train"]["save_weights"] = "";
  values["train"]["seed"] = 7;  // of other weights
  return train(values, 0);
}

Json on_ranks(Json values, std::int64_t ranks, const std::vector<Json>& techniques) {
  values["ranks"] = ranks;
  values["techniques"] = techniques;
  return values;
}

TEST(SavingTest, WhatShardsSaveIsLoadedWholeAndOnAnotherNumberOfRanks) {
  const std::map<std::string, std::vector<Json>> stacks{
      {"ddp", {technique("ddp")}},
      {"zero_1", {technique("zero_1")}},
      {"zero_2", {technique("zero_2")}},
      {"fsdp", {technique("fsdp"), technique("on_device_init")}},
      {"cpu_offload", {technique("fsdp"), technique("cpu_offload")}},
  };
  for (const auto& [name, stack] : stacks) {
    SCOPED_TRACE(name);
    const TemporaryFolder folder;
    Json values = on_ranks(in_float64(mini_vit(2, 2)), 2, stack);
    values["train"]["save_weights"] = folder.path();
    const std::string trained = train(values, 1).front().weights;
    ASSERT_FALSE(trained.empty());
    EXPECT_TRUE(load(on_ranks(values, 1, {}), folder.path()).front().weights == trained);
    for (const RankSaw& rank : load(on_ranks(values, 3, stack), folder.path())) {
      EXPECT_TRUE(rank.weights == trained);
    }
  }
}

// Ranks see other samples. As under PyTorch's DistributedDataParallel, whose first rank sends its
// buffers to the others, what is saved is what the first rank has seen.
TEST(SavingTest, EachRankKeepsStatisticsOfItsOwnAndTheFirstOnesAreSaved) {
  const std::vector<std::vector<Json>> stacks{
      {technique("ddp")},
      {technique("zero_1")},
      {technique("zero_2")},
      {technique("fsdp"), technique("on_device_init")},
      {technique("fsdp"), technique("activation_checkpointing")},
      {technique("fsdp"), technique("cpu_offload")},
  };
  RankSaw ddp;
  for (const std::vector<Json>& stack : stacks) {
    SCOPED_TRACE(Json(stack).dump());
    const TemporaryFolder folder;
    Json values = on_ranks(in_float64(mini_resnet(2, 4)), 2, stack);
    values["train"]["save_weights"] = folder.path();
    const auto ranks = train(values, 2);
    EXPECT_EQ(ranks[0].seen.at("inactive"), "");
    EXPECT_NE(ranks[0].seen.at("buffers"), ranks[1].seen.at("buffers"));
    if (ddp.weights.empty()) ddp = ranks[0];
    EXPECT_LE(loss_distance(ranks[0], ddp), 1e-12);
    EXPECT_EQ(ranks[0].seen.at("buffers").size(), ddp.seen.at("buffers").size());
    const RankSaw loaded = load(on_ranks(values, 1, {}), folder.path()).front();
    EXPECT_EQ(loaded.seen.at("buffers"), ranks[0].seen.at("buffers"));
    EXPECT_TRUE(loaded.weights == ranks[0].weights);
  }
}

TEST(SavingTest, WhatTensorParallelSavesAreTheWeightsThatOneRankTrains) {
  for (const Json& small : {small_vit(3, 2), small_bert(2, 2)}) {
    const TemporaryFolder folder;
    const auto ranks = small.at("ranks").get<std::int64_t>();
    const std::vector<Json> stack{technique("tensor_parallel", {{"sequence_parallel", true}})};
    Json values = on_ranks(in_float64(small), ranks, stack);
    const RankSaw control = train(on_ranks(values, 1, {}), 3).front();
    values["train"]["save_weights"] = folder.path();
    const auto trained = train(values, 3);
    const RankSaw whole = load(on_ranks(values, 1, {}), folder.path()).front();
    EXPECT_LE(weight_distance(whole, control), 1e-12);
    const auto again = load(values, folder.path());
    for (std::size_t i = 0; i < again.size(); ++i) {
      EXPECT_TRUE(again[i].weights == trained[i].weights) << "rank " << i;
    }
    const auto shards = load(on_ranks(values, 2, {technique("fsdp")}), folder.path());
    EXPECT_TRUE(shards.front().weights == whole.weights);
  }
}

}  // namespace
}  // namespace headroom
