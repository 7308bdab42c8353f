// SPDX-License-Identifier: Apache-2.0
#include "models/parameters.h"

#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <cmath>

#include "models/table.h"

namespace headroom {
namespace {

TEST(ParameterFactory, DrawsFromTheDistributionsThatAreNamed) {
  at::manual_seed(1);
  ParameterFactory factory(at::kCPU, at::kFloat);
  const at::Tensor normal = factory.normal("normal", {100, 100}, 0.02);
  EXPECT_NEAR(normal.mean().item<double>(), 0.0, 0.001);
  EXPECT_NEAR(normal.std().item<double>(), 0.02, 0.001);

  const at::Tensor uniform = factory.uniform("uniform", {100, 100}, 0.5);
  EXPECT_LE(uniform.abs().max().item<double>(), 0.5);
  EXPECT_NEAR(uniform.std().item<double>(), 0.5 / std::sqrt(3.0), 0.01);

  EXPECT_TRUE(factory.constant("constant", {3}, 1.5).eq(1.5).all().item<bool>());
}

TEST(ParameterFactory, GivesTrainableLeavesInOrderOnce) {
  ParameterFactory factory(at::kCPU, at::kBFloat16);
  const at::Tensor first = factory.constant("first", {2}, 0.0);
  factory.normal("second", {2}, 1.0);
  const std::vector<Parameter> made = factory.take();
  ASSERT_EQ(made.size(), 2U);
  EXPECT_EQ(made[0].name, "first");
  EXPECT_TRUE(made[0].tensor.is_same(first));
  for (const Parameter& parameter : made) {
    EXPECT_TRUE(parameter.tensor.requires_grad() && parameter.tensor.is_leaf());
    EXPECT_EQ(parameter.tensor.scalar_type(), at::kBFloat16);
  }
  EXPECT_TRUE(factory.take().empty());
}

TEST(ParameterFactory, HasZerosWhereNothingIsComputed) {
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
    ParameterFactory factory(at::kCPU, dtype, Start::zeros);
    const at::Tensor large = factory.normal("large", {2000, 3000}, 1.0);
    factory.uniform("small", {3}, 1.0);
    for (const Parameter& parameter : factory.take()) {
      EXPECT_TRUE(parameter.tensor.eq(0.0).all().item<bool>()) << parameter.name;
      EXPECT_TRUE(parameter.tensor.requires_grad() && parameter.tensor.is_leaf());
      EXPECT_EQ(parameter.tensor.scalar_type(), dtype);
    }
    EXPECT_EQ(large.sizes(), (std::vector<std::int64_t>{2000, 3000}));
  }
}

// Weights of a narrow model equal those of a model that is made in fp32 and cast as a whole.
TEST(ParameterFactory, CastingOneByOneIsCastingTheWhole) {
  const auto make = [](at::ScalarType dtype) {
    at::manual_seed(7);
    return find_model("vit_ti_16")
        .make({.name = "vit_ti_16"}, {.image_size = 32}, {at::kCPU, dtype});
  };
  const auto wide = make(at::kFloat);
  const auto narrow = make(at::kBFloat16);
  for (std::size_t i = 0; i < wide->parameters().size(); ++i) {
    EXPECT_TRUE(
        wide->parameters()[i].tensor.to(at::kBFloat16).equal(narrow->parameters()[i].tensor))
        << wide->parameters()[i].name;
  }
}

}  // namespace
}  // namespace headroom
