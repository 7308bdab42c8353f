// SPDX-License-Identifier: Apache-2.0
#include "src/machine/gpu_condition.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "src/machine/processes.h"

namespace headroom {
namespace {

TEST(GpuCondition, is_empty_for_a_cpu) {
  const GpuCondition condition = read_gpu_condition(c10::kCPU, true);
  EXPECT_FALSE(condition.other_processes);
  EXPECT_FALSE(condition.throttle_bits);
  EXPECT_FALSE(condition.clock_mhz);
  EXPECT_FALSE(condition.temperature_c);
  EXPECT_FALSE(GpuUtilisation(c10::kCPU).percent());
}

TEST(GpuCondition, names_the_reasons_of_throttling_and_those_it_does_not_know) {
  EXPECT_EQ(throttle_reasons(0), "none");
  EXPECT_EQ(throttle_reasons(0x1), "gpu_idle");
  EXPECT_EQ(throttle_reasons(0x4 | 0x20), "sw_power_cap+sw_thermal_slowdown");
  EXPECT_EQ(throttle_reasons(0x8 | 0x40 | 0x80),
            "hw_slowdown+hw_thermal_slowdown+hw_power_brake_slowdown");
  EXPECT_EQ(throttle_reasons(0x100 | 0x4000), "display_clocks+other");
}

TEST(SameProgram, is_this_one_and_not_its_parent) {
  EXPECT_TRUE(runs_this_program(getpid()));
  EXPECT_FALSE(runs_this_program(getppid()));  // ctest, or a shell
  EXPECT_FALSE(runs_this_program(0x7FFFFFFF));
}

}  // namespace
}  // namespace headroom
