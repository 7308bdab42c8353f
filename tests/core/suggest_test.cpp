// SPDX-License-Identifier: Apache-2.0
#include "src/core/suggest.h"

#include <gtest/gtest.h>

namespace headroom {
namespace {

const std::vector<std::string> kNames{"batch_size", "optimizer", "steps", "seed"};

TEST(Suggest, FindsTheMisspelt) {
  EXPECT_EQ(closest_name("batchsize", kNames), "batch_size");
  EXPECT_EQ(closest_name("optimiser", kNames), "optimizer");
  EXPECT_EQ(closest_name("step", kNames), "steps");
  EXPECT_EQ(closest_name("sede", kNames), "seed");
  EXPECT_EQ(closest_name("sgd", {"adam", "sdg"}), "sdg");
}

TEST(Suggest, DoesNotGuess) {
  EXPECT_EQ(closest_name("learning_rate", kNames), "");
  EXPECT_EQ(closest_name("", kNames), "");
  EXPECT_EQ(closest_name(std::string(1000, 'x'), kNames), "");
}

TEST(Suggest, SaysWhatIsAllowed) {
  EXPECT_EQ(allowed_names("sed", {"seed", "steps"}), "did you mean 'seed'? Allowed: seed, steps");
  EXPECT_EQ(allowed_names("zzz", {"seed", "steps"}), "allowed: seed, steps");
  EXPECT_EQ(allowed_names("zzz", {}), "nothing is allowed here");
}

}  // namespace
}  // namespace headroom
