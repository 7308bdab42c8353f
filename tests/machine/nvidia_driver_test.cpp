// SPDX-License-Identifier: Apache-2.0
#include "src/machine/nvidia_driver.h"

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"

namespace headroom {
namespace {

/// A machine with one file of a device, and what the driver says of itself.
struct Machine {
  TemporaryFolder root;

  Machine(const std::string& device, const std::string& version) {
    std::filesystem::create_directories(root / "dev");
    std::filesystem::create_directories(root / "proc/driver/nvidia");
    root.write("dev/" + device, "");
    root.write("proc/driver/nvidia/version", version);
  }
};

const std::string kVersion =
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.57.02  Tue Jul 13 16:14:05 UTC 2021\n"
    "GCC version:  gcc version 9.3.0 (Ubuntu 9.3.0-17ubuntu1~20.04)\n";
const std::string kOpenVersion =
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.82.07  Release Build\n";

TEST(NvidiaDriver, is_the_one_of_the_gpu_that_is_there) {
  EXPECT_EQ(nvidia_driver(Machine("nvidia0", kVersion).root.path()), "470.57.02");
  EXPECT_EQ(nvidia_driver(Machine("nvidia3", kOpenVersion).root.path()), "580.82.07");
}

// In a container without GPUs /proc tells of the machine's driver all the same.
TEST(NvidiaDriver, is_none_where_no_gpu_is_given_to_us) {
  EXPECT_EQ(nvidia_driver(Machine("nvidiactl", kVersion).root.path()), std::nullopt);
  EXPECT_EQ(nvidia_driver(Machine("nvidia0", "").root.path()), std::nullopt);
  EXPECT_EQ(nvidia_driver(TemporaryFolder().path()), std::nullopt);
}

}  // namespace
}  // namespace headroom
