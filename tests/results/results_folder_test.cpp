// SPDX-License-Identifier: Apache-2.0
#include "src/results/results_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "src/results/journal.h"
#include "tests/flushes.h"
#include "tests/support/temporary_folder.h"

namespace headroom {
namespace {

TEST(ResultsFolder, is_on_the_disk_with_all_that_are_above_it) {
  const TemporaryFolder above;
  std::vector<std::string> flushed;
  const FlushObserver observer([&](const std::string& path) { flushed.push_back(path); });
  const ResultsFolder folder(above / "out/suite/time");
  const Journal journal(folder.journal());
  for (const std::string entry : {"out", "out/suite", "out/suite/time", "out/suite/time/journal"}) {
    const std::string holder = std::filesystem::path(above / entry).parent_path();
    EXPECT_NE(std::ranges::find(flushed, holder), flushed.end()) << holder;
  }
}

}  // namespace
}  // namespace headroom
