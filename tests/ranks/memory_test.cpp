// SPDX-License-Identifier: Apache-2.0
// What sharding saves, to the byte, by the ledger.
#include <gtest/gtest.h>

#include "tests/ranks/training.h"

namespace headroom {
namespace {

constexpr int kSteps = 3;
constexpr std::int64_t kFloat = 4;

Json late(Json options = Json::object()) {
  options["prefetch_backward"] = false;
  return technique("fsdp", options);
}

std::int64_t number(const RankSaw& rank, const char* path) {
  return rank.seen.at(Json::json_pointer(path)).get<std::int64_t>();
}

/// Twelve blocks and the root are padded by less than a rank's count of elements each.
void expect_part_of(std::int64_t bytes, std::int64_t all, std::int64_t ranks) {
  EXPECT_GE(bytes, all / ranks);
  EXPECT_LE(bytes, all / ranks + 13 * kFloat);
}

TEST(ShardedMemoryTest, BetweenBlocksARankHoldsItsPartAndTheRoot) {
  for (const std::int64_t ranks : {2, 3, 4}) {
    for (const RankSaw& rank : train(with(small_vit(ranks, 4), {late()}), kSteps)) {
      const std::int64_t all = kFloat * number(rank, "/parameters");
      expect_part_of(number(rank, "/resident/weights"), all, ranks);
      // 16 x 16 x 3 x 192 and 192 of the patches, a class token, 5 positions, the last norm, a head
      const std::int64_t root = 147'456 + 192 + 192 + 5 * 192 + 2 * 192 + 10 * 192 + 10;
      EXPECT_GE(number(rank, "/resident/communication"), kFloat * root);
      EXPECT_LE(number(rank, "/resident/communication"), kFloat * (root + ranks));
    }
  }
}

TEST(ShardedMemoryTest, StateGradientsAndWeightsArePartsAtTheUpdate) {
  struct Expected {
    const char* technique;
    bool weights;
    bool gradients;
  };
  for (const Expected expected : {Expected{"zero_1", false, true}, Expected{"zero_2", false, true},
                                  Expected{"fsdp", true, true}}) {
    SCOPED_TRACE(expected.technique);
    Json values = small_vit(2, 1);
    values["train"]["optimizer"]["implementation"] = "multi_tensor";
    for (const RankSaw& rank : train(with(values, {technique(expected.technique)}), kSteps)) {
      const std::int64_t all = kFloat * number(rank, "/parameters");
      expect_part_of(number(rank, "/parts/optimizer_state") / 2, all, 2);
      expect_part_of(number(rank, "/parts/weights"), all, expected.weights ? 2 : 1);
    }
  }
}

// The mixed-precision Adam of ZeRO's paper, at the update: 2P of weights and 14P/N of this rank's
// part, its gradients widened beside them. P is even, and so without padding on two ranks.
TEST(ShardedMemoryTest, NarrowWeightsAreWholeAndTheirUpdateIsShared) {
  for (const char* name : {"zero_1", "zero_2"}) {
    SCOPED_TRACE(name);
    Json values = small_vit(2, 1);
    values["train"]["optimizer"]["implementation"] = "multi_tensor";
    const Json narrow = technique(name, {{"parameter_dtype", "bfloat16"}});
    for (const RankSaw& rank : train(with(values, {narrow}), kSteps)) {
      EXPECT_EQ(rank.seen.at("inactive"), "");
      const std::int64_t all = number(rank, "/parameters");
      EXPECT_EQ(number(rank, "/parts/weights"), 2 * all + 4 * all / 2);
      EXPECT_EQ(number(rank, "/parts/optimizer_state"), 8 * all / 2);
      EXPECT_EQ(number(rank, "/parts/gradients"), 2 * all / 2);
      EXPECT_EQ(number(rank, "/parts/communication"), 0);
      EXPECT_GE(number(rank, "/parts/temporary"), 4 * all / 2);
    }
  }
}

TEST(ShardedMemoryTest, NoRankBuildsTheWholeModel) {
  const Json on_device = technique("on_device_init");
  const auto staged = train(with(small_vit(4, 4), {technique("fsdp")}), 1);
  const auto built = train(with(small_vit(4, 4), {technique("fsdp"), on_device}), 1);
  for (std::size_t i = 0; i < built.size(); ++i) {
    const std::int64_t all = kFloat * number(built[i], "/parameters");
    EXPECT_GE(number(staged[i], "/init_peak_bytes"), all);
    EXPECT_LE(number(built[i], "/init_peak_bytes"), all / 2);
    EXPECT_EQ(built[i].weights, staged[i].weights);
  }
}

/// Most of bert_mini is its root, whose gradients are the peak.
TEST(ShardedMemoryTest, AUnitsWeightsGoBeforeItsGradientsAreThereTwice) {
  Json values = with(small_vit(2, 1), {technique("fsdp")});
  values["model"] = {{"name", "bert_mini"}};
  values["data"] = {{"name", "random_tokens"}, {"sequence_length", 8}};
  for (const RankSaw& rank : train(values, kSteps)) {
    const std::int64_t block = kFloat * (12 * 256 * 256 + 13 * 256);
    const std::int64_t root = kFloat * number(rank, "/parameters") - 4 * block;
    EXPECT_GE(number(rank, "/parts/communication"), root);
    EXPECT_LE(number(rank, "/parts/communication"), root + block + 2 * kFloat);
  }
}

TEST(ShardedMemoryTest, AutocastKeepsNoCopiesOfWeightsThatAreGone) {
  constexpr std::int64_t kCopiesOfABlock = 2 * 444'864;  // there are twelve blocks
  const Json values = with(small_vit(2, 1), {technique("mixed_precision", {{"dtype", "bfloat16"}}),
                                             technique("activation_checkpointing"), late()});
  EXPECT_LT(number(train(values, 2).front(), "/resident/temporary"), kCopiesOfABlock);
}

TEST(ShardedMemoryTest, TheSamePeakEveryTime) {
  for (const char* name : {"zero_1", "zero_2", "fsdp"}) {
    const Json values = with(small_vit(2, 4), {technique(name)});
    const auto once = train(values, kSteps);
    const auto again = train(values, kSteps);
    for (std::size_t i = 0; i < once.size(); ++i) {
      EXPECT_EQ(once[i].seen.at("parts"), again[i].seen.at("parts")) << name;
    }
  }
}

/// The bytes that each has to send, by the formulas of ZeRO's paper (section 7), a loss and a norm
/// beside them.
TEST(CommunicationTest, ShardingSendsWhatItsFormulaSays) {
  const std::int64_t steps = 2;
  for (const std::int64_t ranks : {2, 4}) {
    const auto sent = [&](const char* name) {
      const RankSaw rank = train(with(small_vit(ranks, 4), {technique(name)}), steps).front();
      const double all = static_cast<double>(kFloat * number(rank, "/parameters"));
      const double share = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
      return static_cast<double>(number(rank, "/sent_bytes")) / (all * share * steps);
    };
    EXPECT_NEAR(sent("ddp"), 2.0, 1e-4);
    EXPECT_NEAR(sent("zero_1"), 2.0, 1e-4);
    EXPECT_NEAR(sent("zero_2"), 2.0, 1e-4);
    EXPECT_NEAR(sent("fsdp"), 3.0, 0.04);  // the root's weights are gathered once, not twice
  }
}

}  // namespace
}  // namespace headroom
