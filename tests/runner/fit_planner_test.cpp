// SPDX-License-Identifier: Apache-2.0
#include "src/runner/fit_planner.h"

#include <gtest/gtest.h>

#include "src/core/error.h"
#include "tests/support/temporary_folder.h"

namespace headroom {
namespace {

class LogOfFit : public testing::Test {
 protected:
  void begin(const std::string& log) const {
    FitPlanner(Catalog{}, DryRun{}, "worker", log, [](const std::string&) {});
  }

  const TemporaryFolder folder;
};

TEST_F(LogOfFit, empties_no_file_of_the_user) {
  for (const std::string text : {"mine", "headroom fit: and more of mine, longer than the title"}) {
    const std::string mine = folder.write("mine.log", text);
    EXPECT_THROW(begin(mine), ConfigError);
    EXPECT_EQ(read_text(mine), text);
  }
}

TEST_F(LogOfFit, follows_no_link) {
  const std::string mine = folder.write("mine", "");
  std::filesystem::create_symlink(mine, folder / "fit.log");
  EXPECT_THROW(begin(folder / "fit.log"), std::system_error);
  EXPECT_EQ(read_text(mine), "");
}

TEST_F(LogOfFit, is_begun_anew_by_the_next) {
  const std::string log = folder / "new/folder/fit.log";
  begin(log);
  const std::string title = read_text(log);
  EXPECT_FALSE(title.empty());
  std::ofstream(log, std::ios::app) << "what a worker printed\n";
  begin(log);
  EXPECT_EQ(read_text(log), title);
}

}  // namespace
}  // namespace headroom
