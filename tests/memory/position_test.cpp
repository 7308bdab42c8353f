// SPDX-License-Identifier: Apache-2.0
#include "src/memory/position.h"

#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "src/memory/device_memory.h"

namespace headroom {
namespace {

TEST(PositionTest, PhasesNestAndAreRestored) {
  const Phase before = current_position().phase;
  {
    const PhaseScope outer(Phase::forward);
    EXPECT_EQ(current_position().phase, Phase::forward);
    {
      const PhaseScope inner(Phase::update);
      EXPECT_EQ(current_position().phase, Phase::update);
    }
    EXPECT_EQ(current_position().phase, Phase::forward);
  }
  EXPECT_EQ(current_position().phase, before);
}

TEST(PositionTest, APhaseBeginsAndEndsOutsideOfBlocks) {
  enter_block(1);
  {
    const PhaseScope phase(Phase::forward);
    EXPECT_EQ(current_position().block, kNoBlock);
    enter_block(7);
    EXPECT_EQ(current_position().block, 7);
  }
  EXPECT_EQ(current_position().block, kNoBlock);
}

/// The operators that allocations are said to come from.
std::string operators_of_a_linear_layer(bool follow) {
  Ledger ledger;
  const auto memory = watch_memory(at::kCPU, ledger);
  const at::Tensor x = at::ones({4, 8});
  const at::Tensor weight = at::ones({16, 8});
  std::optional<OperatorScope> scope;
  if (follow) scope.emplace();
  const at::Tensor y = at::linear(x, weight);
  return ledger.peak().where.op;
}

TEST(PositionTest, TheOutermostOperatorIsNamed) {
  EXPECT_EQ(operators_of_a_linear_layer(true), "aten::linear");
}

TEST(PositionTest, NoOperatorIsNamedOutsideOfItsScope) {
  EXPECT_EQ(operators_of_a_linear_layer(false), "");
  const OperatorScope scope;
  EXPECT_STREQ(current_position().op, "");
}

}  // namespace
}  // namespace headroom
