// SPDX-License-Identifier: Apache-2.0
// Every way of checkpointing, with random numbers and autocast inside of the blocks.
#include <gtest/gtest.h>

#include "tests/techniques/training.h"

namespace headroom {
namespace {

constexpr int kSteps = 2;

struct Way {
  std::string name;
  Json options;
  std::int64_t vit_blocks_again;  // a step, of 12
};

const std::vector<Way>& ways() {
  static const std::vector<Way> kWays = {
      {"each", Json::object(), 12},
      {"groups", {{"every", 5}}, 12},
      {"nested", {{"every", 2}, {"nested", 3}}, 24},
      {"reentrant", {{"reentrant", true}}, 12},
      {"reentrant_groups", {{"every", 4}, {"reentrant", true}}, 12},
  };
  return kWays;
}

class CheckpointingTest : public testing::TestWithParam<Way> {
 protected:
  /// The case with checkpointing behind its techniques is the case, to the last bit.
  Trained expect_same(const Json& values) const {
    Trained with_it =
        train(with(values, {technique("activation_checkpointing", GetParam().options)}), kSteps);
    EXPECT_EQ(with_it.inactive, "");
    EXPECT_TRUE(same_bits(with_it, trained_once(values, kSteps)));
    return with_it;
  }
};
INSTANTIATE_TEST_SUITE_P(, CheckpointingTest, testing::ValuesIn(ways()),
                         [](const auto& test) { return test.param.name; });

TEST_P(CheckpointingTest, ChangesNoBitAndCountsItsBlocks) {
  const Trained again = expect_same(small_vit());
  EXPECT_EQ(again.evidence.recomputed_blocks, kSteps * GetParam().vit_blocks_again);
}

TEST_P(CheckpointingTest, RestoresTheRandomState) {
  const std::pair<Json, const char*> models[] = {
      {small_vit(), "eager"}, {small_bert(), "eager"}, {small_bert(), "eager_torch_1_10"}};
  for (auto [values, attention] : models) {
    const Trained& without_dropout = trained_once(values, kSteps);
    values["model"]["attention"] = attention;
    values["model"]["dropout"] = 0.1;
    EXPECT_FALSE(same_bits(expect_same(values), without_dropout));
  }
}

// What lora freezes is all that is before the first block.
TEST_P(CheckpointingTest, AsksForNoGradientOfWhatEntersTheBlocks) {
  expect_same(with(small_vit(), {technique("lora")}));
}

TEST_P(CheckpointingTest, RestoresAutocast) {
  expect_same(with(small_vit(), {technique("mixed_precision", {{"dtype", "bfloat16"}})}));
}

}  // namespace
}  // namespace headroom
