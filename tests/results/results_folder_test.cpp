// SPDX-License-Identifier: Apache-2.0
#include "src/results/results_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "src/results/journal.h"
#include "tests/flushes.h"
#include "tests/support/temporary_folder.h"

namespace headroom {
namespace {

using namespace std::string_literals;

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

TEST(ResultsFolder, has_a_log_for_each_rank_of_each_case) {
  const TemporaryFolder above;
  const ResultsFolder folder(above / "out");
  const std::string longest(200, 'x');
  const auto names = {"a_b"s, "a/b"s, "a b"s, "../a_b"s, longest + "1", longest + "2"};
  std::set<std::string> logs;
  for (const std::string& name : names) {
    for (const std::size_t rank : {0, 1}) {
      const std::string log = folder.log_path(name, rank);
      EXPECT_EQ(std::filesystem::path(log).parent_path(), above / "out/log");
      EXPECT_TRUE(logs.insert(log).second) << log;
    }
  }
}

}  // namespace
}  // namespace headroom
