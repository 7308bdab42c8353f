// SPDX-License-Identifier: Apache-2.0
#include "src/optimizers/clip.h"

#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include "tests/optimizers/parameters.h"

namespace headroom {
namespace {

TEST(ClipTest, ScalesAllGradientsByOneFactor) {
  // 4 + 12 gradients of 0.5: the norm is sqrt(16 * 0.25) = 2.
  const std::vector<at::Tensor> parameters = constant_parameters(1.0, 0.5);
  EXPECT_FLOAT_EQ(clip_gradients(parameters, 1.0).item<float>(), 2.0F);
  for (const at::Tensor& parameter : parameters) {
    EXPECT_FLOAT_EQ(parameter.grad().min().item<float>(), 0.5F / (2.0F + 1e-6F));
    EXPECT_FLOAT_EQ(parameter.grad().max().item<float>(), 0.5F / (2.0F + 1e-6F));
  }
}

TEST(ClipTest, LeavesSmallGradientsAsTheyAre) {
  const std::vector<at::Tensor> parameters = constant_parameters(1.0, 0.5);
  EXPECT_FLOAT_EQ(clip_gradients(parameters, 2.5).item<float>(), 2.0F);
  EXPECT_EQ(parameters[1].grad().min().item<float>(), 0.5F);
}

TEST(ClipTest, PassesOverParametersWithoutAGradient) {
  std::vector<at::Tensor> parameters = constant_parameters(1.0, 0.5);
  parameters.push_back(at::full({5}, 1.0F).requires_grad_());
  EXPECT_FLOAT_EQ(clip_gradients(parameters, 1.0).item<float>(), 2.0F);
  EXPECT_FALSE(parameters.back().grad().defined());
  EXPECT_FALSE(clip_gradients(std::span(parameters).last(1), 1.0).defined());
}

}  // namespace
}  // namespace headroom
