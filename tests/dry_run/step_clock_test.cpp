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

TEST(StepClock, LeavesOutStepsThatCompileWhereOthersDoNot) {
  StepClock clock;
  clock.note_compiled();
  clock.end_step({100, 100, 100}, {});
  clock.note_compiled();
  clock.end_step({900, 900, 900}, {.ns = {800}});
  EXPECT_EQ(clock.steps().count, 1);
  EXPECT_EQ(clock.steps().ns, (Moment{800, 800, 800}));
  clock.end_step({950, 960, 970}, {.ns = {840}});
  EXPECT_EQ(clock.steps().count, 1);
  EXPECT_EQ(clock.steps().ns, (Moment{50, 60, 70}));
  EXPECT_EQ(clock.steps().work.ns[0], 40);
}

}  // namespace
}  // namespace headroom::dry_run
