// SPDX-License-Identifier: Apache-2.0
#include "src/results/results_folder.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "src/results/journal.h"
#include "tests/support/temporary_folder.h"

namespace {

/// What this program has flushed to the disk so far.
std::vector<std::string> flushed;

}  // namespace

// In place of the C library's.
extern "C" int fsync(int descriptor) {
  const auto link = "/proc/self/fd/" + std::to_string(descriptor);
  flushed.push_back(std::filesystem::read_symlink(link));
  return static_cast<int>(syscall(SYS_fsync, descriptor));
}

namespace headroom {
namespace {

TEST(ResultsFolder, is_on_the_disk_with_all_that_are_above_it) {
  const TemporaryFolder above;
  flushed.clear();
  const ResultsFolder folder(above / "out/suite/time");
  const Journal journal(folder.journal());
  for (const std::string entry : {"out", "out/suite", "out/suite/time", "out/suite/time/journal"}) {
    const std::string holder = std::filesystem::path(above / entry).parent_path();
    EXPECT_NE(std::ranges::find(flushed, holder), flushed.end()) << holder;
  }
}

}  // namespace
}  // namespace headroom
