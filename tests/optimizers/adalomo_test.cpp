// SPDX-License-Identifier: Apache-2.0
// What the golden file, whose weights are all about 1, does not show of AdaLomo.
#include <gtest/gtest.h>

#include "src/optimizers/optimizer.h"
#include "tests/optimizers/parameters.h"

namespace headroom {
namespace {

/// The first number behind one update, whose normalized gradient is 1 everywhere.
double after_one_update(double value) {
  OptimizerOptions options;
  options.name = "adalomo";
  options.lr = 0.5;
  options.implementation = Implementation::per_tensor;
  const std::vector<at::Tensor> parameters = constant_parameters(value, 0.25);
  const auto optimizer = make_device_optimizer(options, parameters);
  optimizer->begin_step();
  optimizer->update_all();
  return parameters[0][0][0].item<double>();
}

TEST(AdaLomoTest, AStepIsAShareOfTheWeights) {
  EXPECT_FLOAT_EQ(static_cast<float>(after_one_update(8.0)), 8.0F - 0.5F * 8.0F);
}

TEST(AdaLomoTest, WeightsOfZeroMoveAsIfTheyWereAThousandth) {
  EXPECT_FLOAT_EQ(static_cast<float>(after_one_update(0.0)), -0.5F * 1e-3F);
}

}  // namespace
}  // namespace headroom
