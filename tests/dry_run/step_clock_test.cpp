// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/step_clock.h"

#include <gtest/gtest.h>

namespace headroom::dry_run {
namespace {

TEST(StepClock, TimesStepsFromTheEndOfTheFirst) {
  StepClock clock;
  EXPECT_EQ(clock.steps().count, 0);
  clock.end_step({500, 900, 1000}, {.ns = {400}});  // building and warming up are in it
  EXPECT_EQ(clock.steps().count, 0);
  clock.end_step({600, 1100, 1300}, {.ns = {480, 10}});
  clock.end_step({720, 1300, 1600}, {.ns = {570, 20}});
  const StepClock::Steps steps = clock.steps();
  EXPECT_EQ(steps.count, 2);
  EXPECT_EQ(steps.ns, (Moment{220, 400, 600}));
  EXPECT_EQ(steps.work.ns, (std::array<std::int64_t, kWorkKinds>{170, 20}));
}

}  // namespace
}  // namespace headroom::dry_run
