// SPDX-License-Identifier: Apache-2.0
// The pace of a host in a program that has neither PyTorch nor Python.
#include "src/dry_run/host_pace.h"

#include <gtest/gtest.h>

#include <thread>

namespace headroom::dry_run {
namespace {

TEST(HostPace, OfTheFirstThreadIsThatOfWhatIsNotRecorded) {
  const LaunchNs launch = launch_ns(Work{});
  EXPECT_EQ(launch.usual, kCxxPace.other_ns);
  EXPECT_EQ(launch.slow, kSlowLaunchNs);
}

TEST(HostPace, OfOtherThreadsIsThatOfBackward) {
  std::int64_t usual_ns = 0;
  std::thread([&] { usual_ns = launch_ns(Work{}).usual; }).join();
  EXPECT_EQ(usual_ns, kCxxPace.autograd_ns);
}

TEST(HostPace, OfWhatTheProgramCompiledIsTheDrivers) {
  EXPECT_EQ(launch_ns(Work{.is_compiled = true}).usual, kCompiledLaunch.usual);
  EXPECT_EQ(launch_ns(Work{.is_compiled = true}).slow, kCompiledLaunch.slow);
}

TEST(HostPace, HasNoPythonToCount) { EXPECT_EQ(python_ns(), Moment{}); }

}  // namespace
}  // namespace headroom::dry_run
