// SPDX-License-Identifier: Apache-2.0
#include "src/optimizers/options.h"

#include <gtest/gtest.h>

#include <cmath>

#include "src/core/error.h"
#include "src/optimizers/optimizer.h"
#include "tests/optimizers/parameters.h"

namespace headroom {
namespace {

OptimizerOptions scheduled(Schedule schedule) {
  OptimizerOptions options;
  options.name = "sgd";
  options.lr = 0.8;
  options.schedule = schedule;
  options.schedule_steps = 4;
  return options;
}

TEST(ScheduleTest, ConstantStays) {
  const OptimizerOptions options = scheduled(Schedule::constant);
  EXPECT_EQ(options.lr_at(1), 0.8);
  EXPECT_EQ(options.lr_at(1'000'000), 0.8);
}

TEST(ScheduleTest, LinearFallsToZeroAndStaysThere) {
  const OptimizerOptions options = scheduled(Schedule::linear);
  EXPECT_DOUBLE_EQ(options.lr_at(1), 0.8);
  EXPECT_DOUBLE_EQ(options.lr_at(2), 0.6);
  EXPECT_DOUBLE_EQ(options.lr_at(4), 0.2);
  EXPECT_DOUBLE_EQ(options.lr_at(5), 0.0);
  EXPECT_DOUBLE_EQ(options.lr_at(9), 0.0);
}

// 0.5 (1 + cos(pi t / T)), as torch.optim.lr_scheduler.CosineAnnealingLR with eta_min 0.
TEST(ScheduleTest, CosineFallsToZeroAndStaysThere) {
  const OptimizerOptions options = scheduled(Schedule::cosine);
  EXPECT_DOUBLE_EQ(options.lr_at(1), 0.8);
  EXPECT_DOUBLE_EQ(options.lr_at(2), 0.4 * (1.0 + std::sqrt(0.5)));
  EXPECT_DOUBLE_EQ(options.lr_at(3), 0.4);
  EXPECT_NEAR(options.lr_at(5), 0.0, 1e-15);
  EXPECT_NEAR(options.lr_at(50), 0.0, 1e-15);
}

TEST(OptimizerTableTest, StateHasTheShapeAndDtypeOfItsRow) {
  OptimizerOptions options;
  options.momentum = 0.9;
  options.projection_rank = 2;  // of a (3, 4)
  for (const OptimizerEntry& entry : optimizer_table()) {
    for (const Implementation implementation : entry.implementations) {
      options.name = entry.name;
      options.implementation = implementation;
      EXPECT_NO_THROW(options.check());
      const std::vector<at::Tensor> parameters = constant_parameters(1.0, 0.5);
      const auto optimizer = make_device_optimizer(options, parameters);
      optimizer->begin_step();
      optimizer->update_all();
      std::vector<at::Tensor> state = optimizer->device_state();
      std::erase_if(state, [](const at::Tensor& tensor) { return tensor.dim() == 0; });  // counters
      std::size_t next = 0;
      for (const at::Tensor& parameter : parameters) {
        for (const StateTensor& wanted : entry.state(options, parameter)) {
          ASSERT_LT(next, state.size());
          EXPECT_EQ(state[next].sizes(), wanted.shape);
          EXPECT_EQ(state[next++].scalar_type(), wanted.dtype);
        }
      }
      EXPECT_EQ(next, state.size());
    }
  }
}

TEST(OptimizerTableTest, AnUnknownNameIsRefused) {
  OptimizerOptions options;
  options.name = "no_such_optimizer";
  EXPECT_THROW(options.check(), ConfigError);
}

TEST(ScheduleTest, UpdatesFollowIt) {
  const std::vector<at::Tensor> parameters = constant_parameters(10.0, 1.0);
  const auto optimizer = make_device_optimizer(scheduled(Schedule::linear), parameters);
  for (int i = 0; i < 2; ++i) {
    optimizer->begin_step();
    optimizer->update_all();
  }
  EXPECT_FLOAT_EQ(parameters[0].min().item<float>(), 10.0F - 0.8F - 0.6F);
}

}  // namespace
}  // namespace headroom
