// SPDX-License-Identifier: Apache-2.0
#include "src/worker/case.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "src/core/error.h"
#include "tests/core/messages.h"
#include "tests/worker/small_case.h"

namespace headroom {
namespace {

std::string error_of(const Json& values) {
  return message_of<ConfigError>([&] { read_case(values, at::kCPU); });
}

TEST(CaseTest, ReadsEverySection) {
  Json values = small_case();
  values["limits"]["memory_bytes"] = 123456;
  values["techniques"] = {{{"name", "bfloat16"}},
                          {{"name", "gradient_accumulation"}, {"micro_batches", 2}}};
  const WorkerCase read = read_case(values, at::kCPU);
  EXPECT_EQ(read.name, "small");
  EXPECT_EQ(read.recipe.model.name, "vit_ti_16");
  EXPECT_EQ(read.recipe.data.image_size, 32);
  EXPECT_EQ(read.recipe.train.batch_size, 4);
  EXPECT_EQ(read.recipe.optimizer.name, "adam");
  EXPECT_EQ(read.limits.memory_bytes, 123456);
  ASSERT_EQ(read.techniques.size(), 2U);
  EXPECT_EQ(read.recipe.dtype, at::kBFloat16);  // edited by techniques
  EXPECT_EQ(read.recipe.micro_batch_size(), 2);
}

TEST(CaseTest, NamesAnUnknownKeyWithItsPath) {
  Json values = small_case();
  values["train"]["optimizer"]["learning_rate"] = 0.1;
  EXPECT_TRUE(contains(error_of(values), "train.optimizer")) << error_of(values);
  EXPECT_TRUE(contains(error_of(values), "learning_rate"));
}

TEST(CaseTest, NamesAWrongTypeWithItsPath) {
  Json values = small_case();
  values["train"]["batch_size"] = "four";
  EXPECT_TRUE(contains(error_of(values), "train.batch_size")) << error_of(values);
}

TEST(CaseTest, NamesAValueOutOfRangeWithItsPath) {
  Json values = small_case();
  values["train"]["batch_size"] = 0;
  EXPECT_TRUE(contains(error_of(values), "train.batch_size")) << error_of(values);
}

TEST(CaseTest, NamesTheTechniqueOfAWrongOption) {
  Json values = small_case();
  values["techniques"] = {{{"name", "gradient_accumulation"}, {"micro_batch", 2}}};
  EXPECT_TRUE(contains(error_of(values), "techniques.gradient_accumulation")) << error_of(values);
}

TEST(CaseTest, NamesTheTechniquesThereAre) {
  Json values = small_case();
  values["techniques"] = {{{"name", "magic"}}};
  EXPECT_TRUE(contains(error_of(values), "magic"));
  EXPECT_TRUE(contains(error_of(values), "activation_checkpointing"));
}

}  // namespace
}  // namespace headroom
