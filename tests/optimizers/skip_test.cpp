// SPDX-License-Identifier: Apache-2.0
// A skipped update leaves no trace: neither in weights and state nor in the count of updates.
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include "src/optimizers/optimizer.h"
#include "tests/optimizers/parameters.h"

namespace headroom {
namespace {

OptimizerOptions fused(const std::string& name) {
  OptimizerOptions options;
  options.name = name;
  options.lr = 0.1;
  options.implementation = Implementation::fused;
  if (name == "sgd") options.momentum = 0.9;
  return options;
}

void update(Optimizer& optimizer, float found_inf) {
  optimizer.begin_step();
  optimizer.update_all(at::full({1}, found_inf, at::kFloat));
}

/// One update of three is skipped; the others are those of a run of two.
void expect_no_trace(const OptimizerOptions& options, bool skip_first) {
  const std::vector<at::Tensor> with_skip = constant_parameters(1.0, 0.5);
  const std::vector<at::Tensor> without = constant_parameters(1.0, 0.5);
  const auto skipping = make_device_optimizer(options, with_skip);
  const auto plain = make_device_optimizer(options, without);
  if (!skip_first) update(*skipping, 0.0F);
  const at::Tensor before = with_skip[1].detach().clone();
  update(*skipping, 1.0F);
  EXPECT_TRUE(at::equal(with_skip[1], before));
  if (skip_first) update(*skipping, 0.0F);
  update(*skipping, 0.0F);
  for (int i = 0; i < 2; ++i) update(*plain, 0.0F);
  for (std::size_t i = 0; i < without.size(); ++i) {
    EXPECT_TRUE(at::equal(with_skip[i], without[i]));
  }
}

TEST(SkipTest, TheFusedKernelsSkipWhereTheDeviceFoundInfinity) {
  for (const char* name : {"adam", "adamw", "sgd"}) {
    SCOPED_TRACE(name);
    expect_no_trace(fused(name), /*skip_first=*/true);
    expect_no_trace(fused(name), /*skip_first=*/false);
  }
}

TEST(SkipTest, TheHostOptimizerRefusesAFlagThatItCanNotRead) {
  const auto optimizer =
      make_host_optimizer(fused("adam"), constant_parameters(1.0, 0.5), PlannedUpdate());
  EXPECT_THROW(update(*optimizer, 1.0F), c10::Error);
}

TEST(SkipTest, AStepThatIsTakenBackDoesNotCount) {
  const auto optimizer = make_device_optimizer(fused("adam"), constant_parameters(1.0, 0.5));
  optimizer->begin_step();
  optimizer->skip_step();
  optimizer->begin_step();
  EXPECT_EQ(optimizer->step(), 1);
}

}  // namespace
}  // namespace headroom
