// SPDX-License-Identifier: Apache-2.0
#include "src/core/scratch_folder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "tests/support/temporary_folder.h"

namespace headroom {
namespace {

/// Scratch folders lie in a folder of the test's own.
class ScratchFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* before = std::getenv("TMPDIR")) before_ = before;
    setenv("TMPDIR", parent_.path().c_str(), /*overwrite=*/1);
  }
  void TearDown() override {
    before_ ? setenv("TMPDIR", before_->c_str(), /*overwrite=*/1) : unsetenv("TMPDIR");
  }

  const TemporaryFolder parent_;
  std::optional<std::string> before_;
};

TEST_F(ScratchFolderTest, IsLeftAloneByOthersWhileItLives) {
  const ScratchFolder first;
  const ScratchFolder second;
  EXPECT_TRUE(std::filesystem::exists(first.path()));
  EXPECT_NE(first.path(), second.path());
}

TEST_F(ScratchFolderTest, IsGoneWithAllItHolds) {
  {
    const ScratchFolder scratch;
    std::ofstream(scratch.path() / "f") << "x";
  }
  EXPECT_TRUE(std::filesystem::is_empty(parent_.path()));
}

TEST_F(ScratchFolderTest, OfAProcessThatWasKilledIsRemovedByTheNext) {
  const std::filesystem::path left = parent_.path() / "headroom-scratch-abcdef";
  const std::filesystem::path other = parent_.path() / "headroom-scratch-of-somebody";
  std::filesystem::create_directories(left / "inner");
  std::filesystem::create_directory(other);
  const ScratchFolder scratch;
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_TRUE(std::filesystem::exists(other));
}

}  // namespace
}  // namespace headroom
