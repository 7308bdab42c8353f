// SPDX-License-Identifier: Apache-2.0
// An installed worker beside the LibTorch that it needs, another, and none.
#include "src/cli/needed_libtorch.h"

#include <gtest/gtest.h>

#include "src/core/error.h"
#include "tests/support/temporary_folder.h"

namespace headroom {
namespace {

class NeededLibtorch : public testing::Test {
 protected:
  NeededLibtorch() {
    std::filesystem::create_directories(folder_.path() / "program");
    std::filesystem::create_directories(folder_.path() / "torch");
  }
  void need(const std::string& version) {
    folder_.write("program/needed_libtorch", version + "\n");
  }
  void lies_there(const std::string& version) {
    folder_.write("torch/version.py", "debug = False\n__version__ = '" + version + "'\ncuda = 1\n");
  }
  /// The reason why it can't run, behind the folder of LibTorch; empty: it can.
  std::string reason() const {
    try {
      check_needed_libtorch(folder_.path() / "program");
    } catch (const Unsupported& error) {
      const std::string text = error.what();
      EXPECT_TRUE(text.starts_with(folder_ / "torch: ")) << text;
      return text.substr((folder_ / "torch: ").size());
    }
    return "";
  }

  const TemporaryFolder folder_;
};

TEST_F(NeededLibtorch, IsNotAskedOfABuild) { EXPECT_EQ(reason(), ""); }

TEST_F(NeededLibtorch, MayDifferInItsThirdNumber) {
  need("2.11.0+cu130");
  lies_there("2.11.0+cu130");
  EXPECT_EQ(reason(), "");
  lies_there("2.11.1+cu130");
  EXPECT_EQ(reason(), "");
}

TEST_F(NeededLibtorch, MayBeAnArchive) {
  need("2.11.0+cu130");
  folder_.write("torch/build-version", "2.11.0+cu130\n");
  EXPECT_EQ(reason(), "");
}

TEST_F(NeededLibtorch, IsNoOtherVersionAndNoOtherBuild) {
  need("2.11.0+cu130");
  for (const char* other : {"2.10.0+cu130", "2.11.0+cpu", "2.11.0", "2.1.0+cu130", "odd"}) {
    lies_there(other);
    EXPECT_EQ(reason(), std::string("it is PyTorch ") + other +
                            ", and headroom's models need 2.11.*+cu130; plan -- PROGRAM works all "
                            "the same");
  }
}

TEST_F(NeededLibtorch, HasToBeThere) {
  need("2.11.0+cu130");
  const std::string missing =
      "there is no PyTorch or LibTorch; headroom's models need 2.11.*+cu130 there, or a link to "
      "it; "
      "plan -- PROGRAM works all the same";
  EXPECT_EQ(reason(), missing);
  folder_.write("torch/version.py", "nothing of this kind\n");
  EXPECT_EQ(reason(), missing);
}

}  // namespace
}  // namespace headroom
