// SPDX-License-Identifier: Apache-2.0
// What sharding saves, to the byte, by the ledger.
#include <gtest/gtest.h>

#include "tests/ranks/training.h"

namespace headroom {
namespace {

constexpr int kMemorySteps = 3;

Json late(Json options = Json::object()) {
  options["prefetch_backward"] = false;
  return technique("fsdp", options);
}

// Of vit_ti_16 at 32 pixels, in parameters. A block: four products of attention and two of the
// feed-forward layer, their biases, two norms. The root: 16 x 16 x 3 x 192 and 192 of the patches,
// a class token, 5 positions, the last norm, a head.
constexpr std::int64_t kBias = 768;  // the largest of a block
constexpr std::int64_t kBlock = 12 * 192 * 192 + 13 * 192;
constexpr std::int64_t kRoot = 147'456 + 192 + 192 + 5 * 192 + 2 * 192 + 10 * 192 + 10;

/// Twelve blocks and the root are padded by less than a rank's count of elements each.
void expect_part_of(std::int64_t bytes, std::int64_t all, std::int64_t ranks) {
  EXPECT_GE(bytes, all / ranks);
  EXPECT_LE(bytes, all / ranks + 13 * kFloatBytes);
}

TEST(FsdpMemory, BetweenBlocksIsARanksPartAndTheRoot) {
  for (const std::int64_t ranks : {2, 3, 4}) {
    for (const RankSaw& rank : train(with(small_vit(ranks, 4), {late()}), kMemorySteps)) {
      const std::int64_t all = kFloatBytes * number(rank, "/parameters");
      expect_part_of(number(rank, "/resident/weights"), all, ranks);
      EXPECT_GE(number(rank, "/resident/communication"), kFloatBytes * kRoot);
      EXPECT_LE(number(rank, "/resident/communication"), kFloatBytes * (kRoot + ranks));
    }
  }
}

TEST(FsdpMemory, OneUnitIsGatheredAsAWhole) {
  for (const std::int64_t ranks : {2, 3}) {
    const Json values = with(small_vit(ranks, 4), {technique("fsdp", {{"one_unit", true}})});
    for (const RankSaw& rank : train(values, kMemorySteps)) {
      const std::int64_t count = number(rank, "/parameters");
      const std::int64_t part = (count + ranks - 1) / ranks;
      EXPECT_EQ(number(rank, "/resident/weights"), kFloatBytes * part);
      EXPECT_EQ(number(rank, "/resident/communication"), kFloatBytes * part * ranks);
    }
  }
}

/// On two ranks. Batch 1, and an update with a temporary: the update is the peak.
std::vector<RankSaw> train_to_the_update(const std::vector<Json>& techniques) {
  Json values = small_vit(2, 1);
  values["train"]["optimizer"]["implementation"] = "multi_tensor";
  values["techniques"] = techniques;
  return train(values, kMemorySteps);
}

/// At the peak each rank holds the state and the gradients of its part, and the weights of its part
/// or of all.
void expect_parts_at_the_update(const char* name, std::int64_t weights_over) {
  for (const RankSaw& rank : train_to_the_update({technique(name)})) {
    const std::int64_t all = kFloatBytes * number(rank, "/parameters");
    expect_part_of(number(rank, "/parts/optimizer_state") / 2, all, 2);
    expect_part_of(number(rank, "/parts/gradients"), all, 2);
    expect_part_of(number(rank, "/parts/weights"), all, weights_over);
  }
}

// Its peak is when reduction begins: all gradients are there yet, but for the first units'.
TEST(Zero1Memory, IsAPartOfStateAndAllWeightsAndGradients) {
  for (const RankSaw& rank : train_to_the_update({technique("zero_1")})) {
    const std::int64_t all = kFloatBytes * number(rank, "/parameters");
    expect_part_of(number(rank, "/parts/optimizer_state") / 2, all, 2);
    EXPECT_GE(number(rank, "/parts/gradients"), all - kFloatBytes * 2 * kBlock);
    EXPECT_LE(number(rank, "/parts/gradients"), all + kFloatBytes * kBlock);
    expect_part_of(number(rank, "/parts/weights"), all, 1);
  }
}

TEST(Zero2Memory, AtTheUpdateIsAPartOfStateAndGradients) {
  expect_parts_at_the_update("zero_2", 1);
}

TEST(FsdpMemory, AtTheUpdateIsAPartOfStateGradientsAndWeights) {
  expect_parts_at_the_update("fsdp", 2);
}

// 4P in buckets beside whole weights, gradients and state.
TEST(DdpMemory, IsAllOfAllAndBuckets) {
  for (const RankSaw& rank : train_to_the_update({technique("ddp")})) {
    const std::int64_t all = kFloatBytes * number(rank, "/parameters");
    EXPECT_EQ(number(rank, "/parts/weights"), all);
    // 3,072 bytes more were seen: likely the class token's gradient, which of one sample is a view
    // of all 5 tokens' (ddp warns of its strides).
    EXPECT_GE(number(rank, "/parts/gradients"), all);
    EXPECT_LE(number(rank, "/parts/gradients"), all + kFloatBytes * kBias);
    EXPECT_EQ(number(rank, "/parts/communication"), all);
    // Beside two moments a counter of 4 bytes for each parameter at most.
    EXPECT_NEAR(number(rank, "/parts/optimizer_state"), 2 * all, 152 * kFloatBytes);
  }
}

// In backward: zero_1 comes to have all gradients, 4P. zero_2 has 4P/N of those that are reduced,
// and whole those of the block at work and of the root, which ends with backward. So it saves
// 4P (1 - 1/N), but for these.
TEST(Zero2Memory, InBackwardIsLessThanZero1sByItsFormula) {
  for (const std::int64_t ranks : {2, 4}) {
    const auto gradients = [ranks](const char* name) {
      return trained_once(with(small_vit(ranks, 1), {technique(name)}), 2);
    };
    const RankSaw whole = gradients("zero_1");
    const std::int64_t all = kFloatBytes * number(whole, "/parameters");
    const std::int64_t at_work = kFloatBytes * (kBlock + kRoot);
    const std::int64_t padding = 13 * kFloatBytes * ranks;
    EXPECT_GE(number(whole, "/resident/gradients"), all);
    EXPECT_LE(number(whole, "/resident/gradients"), all + kFloatBytes * kBias);
    const std::int64_t own = number(gradients("zero_2"), "/resident/gradients");
    EXPECT_GE(own, all / ranks);
    EXPECT_LE(own, all / ranks + at_work + padding);
    EXPECT_GE(all - own, all - all / ranks - at_work - padding);
  }
}

// 16P/N: weights, gradients and Adam's two moments, which fsdp holds on the device and cpu_offload
// on the host.
TEST(CpuOffloadMemory, IsOnTheHostByItsFormula) {
  const auto on_device = train_to_the_update({technique("fsdp")});
  const auto on_host = train_to_the_update({technique("fsdp"), technique("cpu_offload")});
  constexpr std::int64_t kCounters = 2 * 4;  // of the fused kernel: updates done and skipped
  for (std::size_t i = 0; i < on_host.size(); ++i) {
    const std::int64_t all = kFloatBytes * number(on_host[i], "/parameters");
    for (const char* part : {"/parts/weights", "/parts/gradients", "/parts/optimizer_state"}) {
      EXPECT_GE(number(on_device[i], part), all / 2) << part;
    }
    EXPECT_EQ(number(on_device[i], "/resident/on_host"), 0);
    EXPECT_EQ(number(on_host[i], "/resident/weights"), 0);
    EXPECT_EQ(number(on_host[i], "/parts/optimizer_state"), 0);
    // Between backward and update no gradient is on the device; in backward one block's are, and
    // the root's.
    EXPECT_LE(number(on_host[i], "/resident/gradients"), 2 * kFloatBytes * (kBlock + kRoot));
    EXPECT_GE(number(on_host[i], "/resident/on_host"), 4 * all / 2);
    EXPECT_LE(number(on_host[i], "/resident/on_host"),
              4 * (all / 2 + 13 * kFloatBytes) + kCounters);
  }
}

// The mixed-precision Adam of ZeRO's paper, at the update: 2P of weights and 14P/N of this rank's
// part, its gradients widened beside them. P is even, and so without padding on two ranks.
TEST(ShardedMemory, OfNarrowWeightsIsWholeAndOfTheirUpdateAPart) {
  for (const char* name : {"zero_1", "zero_2"}) {
    SCOPED_TRACE(name);
    Json values = small_vit(2, 1);
    values["train"]["optimizer"]["implementation"] = "multi_tensor";
    const Json narrow = technique(name, {{"parameter_dtype", "bfloat16"}});
    for (const RankSaw& rank : train(with(values, {narrow}), kMemorySteps)) {
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

TEST(FsdpMemory, NoRankBuildsTheWholeModel) {
  const Json on_device = technique("on_device_init");
  const auto staged = train(with(small_vit(4, 4), {technique("fsdp")}), 1);
  const auto built = train(with(small_vit(4, 4), {technique("fsdp"), on_device}), 1);
  for (std::size_t i = 0; i < built.size(); ++i) {
    const std::int64_t all = kFloatBytes * number(built[i], "/parameters");
    EXPECT_GE(number(staged[i], "/init_peak_bytes"), all);
    EXPECT_LE(number(built[i], "/init_peak_bytes"), all / 2);
    EXPECT_EQ(built[i].weights, staged[i].weights);
  }
}

/// Most of bert_mini is its root, whose gradients are the peak.
TEST(FsdpMemory, AUnitsWeightsGoBeforeItsGradientsAreThereTwice) {
  Json values = with(small_vit(2, 1), {technique("fsdp")});
  values["model"] = {{"name", "bert_mini"}};
  values["data"] = {{"name", "random_tokens"}, {"sequence_length", 8}};
  for (const RankSaw& rank : train(values, kMemorySteps)) {
    const std::int64_t block = kFloatBytes * (12 * 256 * 256 + 13 * 256);
    const std::int64_t root = kFloatBytes * number(rank, "/parameters") - 4 * block;
    EXPECT_GE(number(rank, "/parts/communication"), root);
    EXPECT_LE(number(rank, "/parts/communication"), root + block + 2 * kFloatBytes);
  }
}

TEST(FsdpMemory, AutocastKeepsNoCopiesOfWeightsThatAreGone) {
  constexpr std::int64_t kCopiesOfABlock = 2 * 444'864;  // there are twelve blocks
  const Json values = with(small_vit(2, 1), {technique("mixed_precision", {{"dtype", "bfloat16"}}),
                                             technique("activation_checkpointing"), late()});
  EXPECT_LT(number(train(values, 2).front(), "/resident/temporary"), kCopiesOfABlock);
}

TEST(ShardedMemory, HasTheSamePeakEveryTime) {
  for (const char* name : {"zero_1", "zero_2", "fsdp"}) {
    const Json values = with(small_vit(2, 4), {technique(name)});
    const auto once = train(values, kMemorySteps);
    const auto again = train(values, kMemorySteps);
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
      const double all = static_cast<double>(kFloatBytes * number(rank, "/parameters"));
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
