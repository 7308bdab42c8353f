// SPDX-License-Identifier: Apache-2.0
// The pace of a host in a program that has neither PyTorch nor Python.
#include "src/dry_run/host_pace.h"

#include <gtest/gtest.h>

#include <thread>

namespace headroom::dry_run {
namespace {

TEST(HostPace, OfTheFirstThreadIsThatOfWhatIsNotRecorded) {
  EXPECT_EQ(launch_ns(Work{}), (Moment{0, kCxxPace.other_ns, kSlowLaunchNs}));
}

TEST(HostPace, OfOtherThreadsIsThatOfBackward) {
  std::int64_t usual_ns = 0;
  std::thread([&] { usual_ns = by(Host::usual, launch_ns(Work{})); }).join();
  EXPECT_EQ(usual_ns, kCxxPace.autograd_ns);
}

TEST(HostPace, OfWhatTheProgramCompiledIsTheDrivers) {
  EXPECT_EQ(launch_ns(Work{.is_compiled = true}), kCompiledLaunchNs);
}

TEST(HostPace, CopiesWhatIsNotPinnedSlowerThanTheLinkOrNoSlower) {
  Work copy;
  copy.ns[static_cast<std::size_t>(WorkKind::host_link)] = 150'000;
  EXPECT_EQ(staging_ns(copy, 1'000'000, /*to_device=*/true), (Moment{0, 50'000, 153'030}));
  EXPECT_EQ(staging_ns(copy, 1'000'000, /*to_device=*/false), (Moment{0, 183'333, 564'286}));
}

TEST(HostPace, HasNoPythonToCount) { EXPECT_EQ(python_ns(), Moment{}); }

}  // namespace
}  // namespace headroom::dry_run
