// SPDX-License-Identifier: Apache-2.0
// The pace of a host in a program that has neither PyTorch nor Python.
#include "src/dry_run/host_pace.h"

#include <gtest/gtest.h>

#include <thread>

namespace headroom::dry_run {
namespace {

TEST(HostPace, OfTheFirstThreadIsThatOfWhatIsNotRecorded) {
  EXPECT_EQ(usual_launch_ns(), kCxxPace.other_ns);
}

TEST(HostPace, OfOtherThreadsIsThatOfBackward) {
  std::int64_t launch_ns = 0;
  std::thread([&] { launch_ns = usual_launch_ns(); }).join();
  EXPECT_EQ(launch_ns, kCxxPace.autograd_ns);
}

TEST(HostPace, HasNoPythonToCount) { EXPECT_EQ(python_ns(), Moment{}); }

}  // namespace
}  // namespace headroom::dry_run
