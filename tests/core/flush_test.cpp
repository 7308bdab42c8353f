// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "src/core/file.h"
#include "tests/flushes.h"
#include "tests/support/temporary_folder.h"

namespace headroom {
namespace {

// Else a power loss leaves an empty file under the name, or the old one.
TEST(Flush, OfAFileComesBeforeItsRenamingAndOfTheFolderBehindIt) {
  const TemporaryFolder folder;
  std::vector<std::string> seen;
  const FlushObserver observer([&](const std::string& path) {
    seen.push_back(path + (std::filesystem::exists(folder / "f") ? " behind" : " before"));
  });
  write_file_atomically(folder / "f", "x");
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_TRUE(seen[0].starts_with(folder / ".f.new-")) << seen[0];
  EXPECT_TRUE(seen[0].ends_with(" before")) << seen[0];
  EXPECT_EQ(seen[1], folder.path().string() + " behind");
}

TEST(Flush, OfFoldersComesFromTheOutermostToTheInnermost) {
  const TemporaryFolder folder;
  std::vector<std::string> seen;
  const FlushObserver observer([&](const std::string& path) { seen.push_back(path); });
  make_folders(folder.path() / "a" / "b");
  EXPECT_EQ(seen, (std::vector<std::string>{folder.path(), folder / "a"}));
}

}  // namespace
}  // namespace headroom
