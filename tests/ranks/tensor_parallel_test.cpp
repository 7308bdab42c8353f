// SPDX-License-Identifier: Apache-2.0
// What ranks train that share their products is what one rank trains on the same samples.
#include <gtest/gtest.h>

#include <ostream>

#include "tests/ranks/training.h"

namespace headroom {
namespace {

constexpr std::int64_t kBatch = 4;

Json tensor_parallel(bool sequence_parallel) {
  return technique("tensor_parallel", {{"sequence_parallel", sequence_parallel}});
}

struct ParallelRow {
  std::string name;
  Json values;                 // on so many ranks
  std::vector<Json> others{};  // techniques that the control lists as well
  Json train{{"precision", "float64"}, {"optimizer", kSgd}};
  double tolerance = 1e-12;  // of losses and of the first gradients' norm

  friend std::ostream& operator<<(std::ostream& out, const ParallelRow& row) {
    return out << row.name;
  }
};

std::vector<ParallelRow> parallel_rows() {
  const Json double_adamw{{"precision", "float64"}, {"optimizer", kAdamW}};
  const Json single{{"precision", "float32"}, {"optimizer", kSgd}};
  const Json clipped{{"precision", "float64"}, {"optimizer", kSgd}, {"max_gradient_norm", 0.5}};
  std::vector<ParallelRow> rows{
      {"bert_on_2", small_bert(2, kBatch)},
      {"bert_on_4", small_bert(4, kBatch)},
      {"vit_on_3", small_vit(3, kBatch)},  // 5 tokens: parts of 2, 2 and 1
      {"gpt2_on_2", small_gpt2(2, kBatch)},
      {"llama_on_2", small_llama(2, kBatch)},
      {"chunked_loss", small_gpt2(2, kBatch), {technique("chunked_loss", {{"chunks", 2}})}},
      {"adamw", mini_vit(2, kBatch), {}, double_adamw},
      {"clipping", mini_vit(2, kBatch), {}, clipped},
      {"float32", mini_vit(2, kBatch), {}, single, 1e-5},
      {"mixed_precision",
       mini_vit(2, kBatch),
       {technique("mixed_precision", {{"dtype", "bfloat16"}})},
       single,
       2e-2},
      {"loss_scaling",
       mini_vit(2, kBatch),
       {technique("mixed_precision", {{"dtype", "float16"}})},
       single,
       2e-2},
      {"bfloat16", mini_vit(2, kBatch), {technique("bfloat16")}, single, 5e-2},
      {"bfloat16_on_device",
       mini_vit(2, kBatch),
       {technique("bfloat16"), technique("on_device_init")},
       single,
       5e-2},
  };
  // Ranks round their parts of what one rank rounds whole.
  rows.push_back({"compressed_activations",
                  small_vit(3, kBatch),
                  {technique("compressed_activations")},
                  single,
                  1e-2});
  rows.push_back(
      {"checkpointing_of_vit", small_vit(3, kBatch), {technique("activation_checkpointing")}});
  rows.push_back({"sgd", mini_vit(2, kBatch), {technique("sgd", {{"lr", 0.02}})}, double_adamw});
  for (const char* partner :
       {"activation_checkpointing", "activation_offload", "recomputed_nonlinearity",
        "gradient_accumulation", "optimizer_offload"}) {
    rows.push_back({partner, mini_vit(2, kBatch), {technique(partner)}});
  }
  return rows;
}

class TensorParallelTest : public testing::TestWithParam<std::tuple<ParallelRow, bool>> {};
std::string name_of(const testing::TestParamInfo<std::tuple<ParallelRow, bool>>& test) {
  return std::get<ParallelRow>(test.param).name + (std::get<bool>(test.param) ? "_by_tokens" : "");
}
INSTANTIATE_TEST_SUITE_P(, TensorParallelTest,
                         testing::Combine(testing::ValuesIn(parallel_rows()), testing::Bool()),
                         name_of);

TEST_P(TensorParallelTest, TrainsWhatOneRankTrains) {
  const auto& [row, sequence_parallel] = GetParam();
  constexpr int kSteps = 5;
  Json values = row.values;
  values["train"].update(row.train);
  for (const Json& other : row.others) values["techniques"].push_back(other);
  Json control_values = values;
  control_values["ranks"] = 1;
  const RankSaw& control = trained_once(control_values, kSteps);
  const auto ranks = train(with(values, {tensor_parallel(sequence_parallel)}), kSteps);
  for (const RankSaw& rank : ranks) {
    EXPECT_EQ(rank.seen.at("inactive"), "");
    EXPECT_EQ(std::max(rank.seen.at("peak_bytes"), rank.seen.at("init_peak_bytes")),
              rank.seen.at("ledger_bytes"));
    EXPECT_EQ(rank.seen.at("losses"), ranks.front().seen.at("losses"));
    EXPECT_EQ(rank.seen.at("gradient_norm"), ranks.front().seen.at("gradient_norm"));
    EXPECT_LE(loss_distance(rank, control), row.tolerance);
    const auto norm = control.seen.at("gradient_norm").get<double>();
    EXPECT_NEAR(rank.seen.at("gradient_norm").get<double>(), norm, 5 * row.tolerance * norm);
    EXPECT_LT(rank.weights.size(), control.weights.size());
  }
}

// Two heads of keys serve two of queries each: four ranks would have to share a head of keys.
TEST(TensorParallelHeads, RefusesMoreRanksThanThereAreHeadsOfKeys) {
  EXPECT_EQ(refusal(with(small_llama(4, kBatch), {tensor_parallel(false)})),
            "tensor_parallel: model.layers.0.self_attn.k_proj.weight has 2 heads, which 4 ranks "
            "can't share equally");
}

TEST(TensorParallelPairs, EveryOneThatComposesHasARow) {
  std::vector<std::vector<Json>> stacks;
  for (const ParallelRow& row : parallel_rows()) {
    stacks.push_back(row.others);
    stacks.back().push_back(tensor_parallel(false));
  }
  EXPECT_EQ(partners_left_out("tensor_parallel", stacks), std::set<std::string>{});
}

// vit_ti_16 at 32 pixels: 12 blocks of width 192 and 5 tokens.
constexpr std::int64_t kBlocks = 12;
constexpr std::int64_t kWidth = 192;
constexpr std::int64_t kShared = kBlocks * (12 * kWidth * kWidth + 7 * kWidth);  // of parameters

TEST(TensorParallelMemory, WeightsAndStateAreSharedAsTheFormulaSays) {
  Json values = small_vit(3, 1);
  values["train"]["optimizer"]["implementation"] = "multi_tensor";
  const std::int64_t all = number(train(small_vit(1, 1), 1).front(), "/parameters");
  const std::int64_t own = all - kShared + kShared / 3;
  for (const bool sequence_parallel : {false, true}) {
    for (const RankSaw& rank : train(with(values, {tensor_parallel(sequence_parallel)}), 2)) {
      EXPECT_EQ(number(rank, "/parts/weights"), kFloatBytes * own);
      // Beside two moments a counter of 4 bytes for each of 152 parameters.
      EXPECT_NEAR(number(rank, "/parts/optimizer_state"), 2 * kFloatBytes * own, 152 * kFloatBytes);
    }
  }
}

TEST(TensorParallelMemory, NoRankBuildsTheWholeModel) {
  const Json values = with(small_vit(3, 1), {tensor_parallel(false)});
  const auto staged = train(values, 1);
  const auto built = train(with(values, {technique("on_device_init")}), 1);
  for (std::size_t i = 0; i < built.size(); ++i) {
    const std::int64_t own = kFloatBytes * number(built[i], "/parameters");
    EXPECT_GE(number(staged[i], "/init_peak_bytes"), kFloatBytes * kShared);
    EXPECT_LE(number(built[i], "/init_peak_bytes"), own + kFloatBytes * 4 * kWidth * kWidth);
    EXPECT_EQ(built[i].weights, staged[i].weights);
  }
}

TEST(TensorParallelMemory, ActivationsOfBlocksAreShared) {
  Json values = small_bert(4, 32);
  values["data"]["sequence_length"] = 64;
  Json alone = values;
  alone["ranks"] = 1;
  const auto activations = [](const RankSaw& rank) {
    return static_cast<double>(number(rank, "/activations"));
  };
  const double whole = activations(train(alone, 1).front());
  const double by_features = activations(train(with(values, {tensor_parallel(false)}), 1).front());
  const double by_tokens = activations(train(with(values, {tensor_parallel(true)}), 1).front());
  EXPECT_LT(by_features, 0.6 * whole);
  // What is outside the blocks is not shared: embeddings and what follows the last block.
  EXPECT_LT(by_tokens, 0.4 * whole);
  EXPECT_GT(by_tokens, 0.25 * whole);
}

/// Bytes that each rank has to send: a sum of n bytes over ranks is 2n, its halves n each.
TEST(TensorParallelCommunication, SendsWhatItsFormulaSays) {
  constexpr int kSteps = 2;
  const double share = 2.0 / 3.0;
  const auto sent = [&](bool sequence_parallel) {
    const Json values = with(small_vit(3, kBatch), {tensor_parallel(sequence_parallel)});
    return static_cast<double>(number(train(values, kSteps).front(), "/sent_bytes")) / kSteps;
  };
  const double of_5_tokens = kBatch * 5 * kWidth * kFloatBytes;
  EXPECT_NEAR(sent(false), kBlocks * 4 * 2 * share * of_5_tokens, 100);
  // Forward gathers and sums twice a block; backward gathers twice for the inputs that were not
  // kept, and undoes the four. Entering and leaving the blocks gathers once each.
  const double of_6_tokens = kBatch * 6 * kWidth * kFloatBytes;  // with padding
  const double gradients = kBlocks * 6 * kWidth * kFloatBytes;   // of norms and biases
  EXPECT_NEAR(sent(true), share * ((10 * kBlocks + 2) * of_6_tokens + 2 * gradients), 1000);
}

}  // namespace
}  // namespace headroom
