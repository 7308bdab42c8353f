// SPDX-License-Identifier: Apache-2.0
// What N ranks train with B samples each is what one trains with N * B in N micro-batches: a rank's
// samples are a micro-batch's, and gradients add up in the same order where N is 2.
#include <gtest/gtest.h>

#include <map>
#include <ostream>

#include "tests/ranks/training.h"

namespace headroom {
namespace {

constexpr std::int64_t kRankBatch = 4;
constexpr std::int64_t kMicroBatches = 2;  // of a rank, where it accumulates

/// How near a training on ranks comes to its control.
enum class Near {
  same_bits,   // losses and weights
  same_sums,   // added or rounded in another order: 1e-12 in fp64
  in_16_bits,  // which are added in another order: losses within 2 %
};

/// What a training on ranks is held against.
enum class Control {
  micro_batches,  // of one rank, with the same samples
  ddp,            // on as many ranks
  alone,          // micro-batches of one rank that shards as the ranks do
};

struct EquivalenceRow {
  std::string name;
  std::int64_t ranks;
  std::vector<Json> sharding;
  std::vector<Json> others;  // techniques that the control lists as well
  Json train;                // beside the base's
  Near expected = Near::same_bits;
  int steps = 20;
  Control control = Control::micro_batches;
  bool of_tokens = false;  // of a model that tells each token's class

  friend std::ostream& operator<<(std::ostream& out, const EquivalenceRow& row) {
    return out << row.name;
  }
};

// cpu_offload updates with the host's fused kernels, as optimizer_offload does. They round the ends
// of a tensor otherwise, and a rank's part of a unit has other ends than the control's parameters.
const Json kFused = {{"name", "adamw"}, {"lr", 1e-3}, {"implementation", "fused"}};

using Stack = std::vector<Json>;

std::vector<EquivalenceRow> equivalence_rows() {
  const std::map<std::string, Stack> shardings{
      {"ddp", {technique("ddp")}},
      {"zero_1", {technique("zero_1")}},
      {"zero_2", {technique("zero_2")}},
      {"fsdp", {technique("fsdp")}},
      {"fsdp_offload", {technique("fsdp"), technique("cpu_offload")}},
  };
  const std::map<std::string, Json> options{
      {"ddp_views", technique("ddp", {{"gradient_as_bucket_view", true}, {"bucket_mib", 1}})},
      {"fsdp_kept", technique("fsdp", {{"reshard_after_forward", false}})},
      {"fsdp_ahead", technique("fsdp", {{"prefetch_forward", true}})},
      {"fsdp_late", technique("fsdp", {{"prefetch_backward", false}})},
      {"fsdp_in_pairs", technique("fsdp", {{"min_parameters", 60'000}})},
      {"fsdp_in_one_unit", technique("fsdp", {{"one_unit", true}})},
  };
  const std::map<std::string, Stack> partners{
      {"checkpointing", {technique("activation_checkpointing")}},
      {"checkpointing_in_pairs", {technique("activation_checkpointing", {{"every", 2}})}},
      {"checkpointing_reentrant", {technique("activation_checkpointing", {{"reentrant", true}})}},
      {"activation_offload", {technique("activation_offload")}},
      {"sgd", {technique("sgd", {{"lr", 0.02}, {"momentum", 0.9}})}},
      {"on_device_init", {technique("on_device_init")}},
      {"optimizer_offload", {technique("optimizer_offload")}},
      {"bfloat16_on_device", {technique("bfloat16"), technique("on_device_init")}},
      {"mixed_precision", {technique("mixed_precision", {{"dtype", "bfloat16"}})}},
      {"loss_scaling", {technique("mixed_precision", {{"dtype", "float16"}})}},
      {"chunked_loss", {technique("chunked_loss", {{"chunks", 2}})}},
      {"compressed_activations", {technique("compressed_activations")}},
      {"recomputed_nonlinearity", {technique("recomputed_nonlinearity")}},
      {"lora", {technique("lora")}},
  };
  std::vector<EquivalenceRow> rows;
  for (const auto& [name, sharding] : shardings) {
    const bool on_host = sharding.size() == 2;
    const Json& adamw = on_host ? kFused : kAdamW;
    const Near at_best = on_host ? Near::same_sums : Near::same_bits;
    const Json sgd_64{{"precision", "float64"}, {"optimizer", kSgd}};
    if (!on_host) {
      rows.push_back({name + "_float32_adamw", 2, sharding, {}, {{"optimizer", adamw}}});
      rows.push_back({name + "_float32_sgd", 2, sharding, {}, {{"optimizer", kSgd}}});
    }
    rows.push_back({name + "_float64_adamw",
                    2,
                    sharding,
                    {},
                    {{"precision", "float64"}, {"optimizer", adamw}},
                    at_best});
    rows.push_back({name + "_float64_sgd", 2, sharding, {}, sgd_64, at_best});
    for (const std::int64_t ranks : {3, 4}) {
      rows.push_back(
          {name + "_on_" + std::to_string(ranks), ranks, sharding, {}, sgd_64, Near::same_sums, 4});
    }
    rows.push_back({name + "_with_clipping",
                    2,
                    sharding,
                    {},
                    {{"optimizer", kSgd}, {"max_gradient_norm", 0.5}, {"precision", "float64"}},
                    Near::same_sums,
                    4});
    rows.push_back({name + "_with_accumulation",
                    2,
                    sharding,
                    {technique("gradient_accumulation", {{"micro_batches", kMicroBatches}})},
                    sgd_64,
                    Near::same_sums,
                    4});
    for (const auto& [partner, others] : partners) {
      // The weights are on the host already.
      if (partner == "optimizer_offload" && on_host) continue;
      if (partner == "on_device_init" && name == "ddp")
        continue;  // on the CPU it does nothing there
      const bool updates_parts_on_host =
          on_host || (partner == "optimizer_offload" && name != "ddp");
      EquivalenceRow row{name + "_with_" + partner, 2, sharding, others, {{"optimizer", adamw}}};
      row.steps = 3;
      row.of_tokens = partner == "chunked_loss";
      // A rank scales a loss that a micro-batch has halved: other numbers overflow.
      if (partner == "loss_scaling") row.control = Control::ddp;
      const bool narrow = partner == "mixed_precision" || partner == "loss_scaling";
      if (partner == "bfloat16_on_device" || (narrow && updates_parts_on_host)) {
        row.expected = Near::in_16_bits;
      } else if (updates_parts_on_host) {
        row.expected = Near::same_sums;
        row.train["precision"] = "float64";
      }
      rows.push_back(row);
    }
  }
  for (const char* name : {"zero_1", "zero_2", "fsdp"}) {
    const auto narrow = [name](const char* dtype) {
      return technique(name, {{"parameter_dtype", dtype}});
    };
    const std::string row = std::string(name) + "_in_";
    const Json train{{"optimizer", kAdamW}};
    rows.push_back({row + "bfloat16", 2, {narrow("bfloat16")}, {}, train, Near::in_16_bits, 5});
    rows.push_back({row + "float16", 2, {narrow("float16")}, {}, train, Near::in_16_bits, 5});
    // fsdp adds micro-batches up in full precision, and ranks in 16 bits. A micro-batch halves its
    // loss, which float16 is too short for.
    if (row == "fsdp_in_") continue;
    rows.push_back({row + "bfloat16_alone",
                    2,
                    {narrow("bfloat16")},
                    {},
                    train,
                    Near::same_bits,
                    5,
                    Control::alone});
  }
  for (const auto& [name, sharding] : options) {
    rows.push_back({name, 2, {sharding}, {}, {{"optimizer", kAdamW}}, Near::same_bits, 5});
  }
  return rows;
}

/// The training that the row is held against.
Json control_of(const EquivalenceRow& row, const Json& values) {
  Json control = values;
  if (row.control == Control::ddp) {
    control["techniques"] = row.others;
    control["techniques"].push_back(technique("ddp"));
    return control;
  }
  control["ranks"] = 1;
  control["train"]["batch_size"] = kRankBatch * row.ranks;
  control["techniques"] = Json::array();
  if (row.control == Control::alone) control["techniques"] = row.sharding;
  std::int64_t micro_batches = row.ranks;
  for (const Json& other : row.others) {
    if (other.at("name") == "on_device_init") continue;
    if (other.at("name") == "gradient_accumulation") {
      micro_batches *= kMicroBatches;
      continue;
    }
    control["techniques"].push_back(other);
  }
  control["techniques"].push_back(
      technique("gradient_accumulation", {{"micro_batches", micro_batches}}));
  return control;
}

class EquivalenceTest : public testing::TestWithParam<EquivalenceRow> {};
INSTANTIATE_TEST_SUITE_P(, EquivalenceTest, testing::ValuesIn(equivalence_rows()),
                         [](const auto& test) { return test.param.name; });

void expect_equivalence(const EquivalenceRow& row, Json values) {
  values["train"].update(row.train);
  for (const Json& other : row.others) values["techniques"].push_back(other);
  for (const Json& sharding : row.sharding) values["techniques"].push_back(sharding);
  const std::vector<RankSaw> ranks = train(values, row.steps);
  const RankSaw& control = trained_once(control_of(row, values), row.steps);
  for (const RankSaw& rank : ranks) {
    EXPECT_EQ(rank.seen.at("inactive"), "");
    EXPECT_EQ(rank.seen.at("peak_bytes") > rank.seen.at("init_peak_bytes")
                  ? rank.seen.at("peak_bytes")
                  : rank.seen.at("init_peak_bytes"),
              rank.seen.at("ledger_bytes"));
    EXPECT_EQ(rank.seen.at("losses"), ranks.front().seen.at("losses"));
    EXPECT_TRUE(rank.weights == ranks.front().weights) << "ranks have different weights";
    if (row.expected == Near::same_bits) {
      EXPECT_EQ(rank.seen.at("losses"), control.seen.at("losses"));
      EXPECT_TRUE(rank.weights == control.weights) << "weights differ from the control's";
    } else if (row.expected == Near::same_sums) {
      EXPECT_LE(loss_distance(rank, control), 1e-12);
      EXPECT_LE(weight_distance(rank, control), 1e-12);
    } else {
      EXPECT_LE(loss_distance(rank, control), 2e-2);
    }
  }
}

TEST_P(EquivalenceTest, RanksTrainWhatMicroBatchesTrain) {
  const EquivalenceRow& row = GetParam();
  expect_equivalence(
      row, row.of_tokens ? small_gpt2(row.ranks, kRankBatch) : mini_vit(row.ranks, kRankBatch));
}

TEST(RanksTest, TrainALlamaAsMicroBatchesDo) {
  for (const char* sharding : {"ddp", "zero_1", "zero_2", "fsdp"}) {
    SCOPED_TRACE(sharding);
    expect_equivalence({sharding, 2, {technique(sharding)}, {}, {{"optimizer", kAdamW}}},
                       small_llama(2, kRankBatch));
  }
}

TEST(RanksTest, EveryPairThatComposesHasARow) {
  std::vector<Stack> stacks;
  for (const EquivalenceRow& row : equivalence_rows()) {
    stacks.push_back(row.sharding);
    stacks.back().insert(stacks.back().end(), row.others.begin(), row.others.end());
  }
  for (const char* name : {"ddp", "zero_1", "zero_2", "fsdp"}) {
    EXPECT_EQ(partners_left_out(name, stacks), std::set<std::string>{}) << name;
  }
}

// The controls of the controls: a training that learns, and ranks that see different samples.
TEST(RanksTest, OtherSamplesTrainOtherWeights) {
  const RankSaw one = train(with(mini_vit(2, kRankBatch), {technique("fsdp")}), 2).front();
  Json half = mini_vit(1, kRankBatch);
  const RankSaw alone = train(half, 2).front();
  EXPECT_FALSE(one.weights == alone.weights);
  EXPECT_NE(one.seen.at("losses"), alone.seen.at("losses"));
}

// Each rank's gradients overflow at the first scale: two ranks have found that, not one.
TEST(RanksTest, AnOverflowOnAllRanksSkipsTheFusedUpdate) {
  Json values = with(small_vit(2, kRankBatch),
                     {technique("mixed_precision", {{"dtype", "float16"}}), technique("ddp")});
  values["train"]["optimizer"] = kFused;
  for (const RankSaw& rank : train(values, 3)) {
    for (const Json& loss : rank.seen.at("losses")) EXPECT_TRUE(loss.is_number()) << loss;
  }
}

TEST(RanksTest, AnUnevenLastMicroBatchCountsByItsSamples) {
  Json values = mini_vit(2, 5);  // 3 and 2 samples a rank
  values["train"]["precision"] = "float64";
  values["train"]["optimizer"] = kSgd;
  const Json accumulation = technique("gradient_accumulation", {{"micro_batches", 2}});
  Json whole = mini_vit(1, 10);
  whole["train"].update(values["train"]);
  whole["train"]["batch_size"] = 10;
  const RankSaw control = train(whole, 4).front();
  for (const char* name : {"ddp", "zero_1", "zero_2", "fsdp"}) {
    SCOPED_TRACE(name);
    const RankSaw rank = train(with(values, {accumulation, technique(name)}), 4).front();
    EXPECT_LE(loss_distance(rank, control), 1e-12);
    EXPECT_LE(weight_distance(rank, control), 1e-12);
  }
}

}  // namespace
}  // namespace headroom
