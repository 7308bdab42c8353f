// SPDX-License-Identifier: Apache-2.0
#include "src/memory/host_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>
#include <memory>
#include <vector>

namespace headroom {
namespace {

/// How many pages the system has to give while blocks are taken, written and freed.
long faults_of_a_step() {
  constexpr std::size_t kBytes = 31 << 20;
  const auto faults = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
  };
  const long before = faults();
  {
    std::vector<std::unique_ptr<char[]>> blocks;
    for (int i = 0; i < 4; ++i) {
      blocks.push_back(std::make_unique_for_overwrite<char[]>(kBytes));
      std::memset(blocks.back().get(), i, kBytes);
    }
  }
  return faults() - before;
}

TEST(HostHeap, GivesAStepThePagesOfTheOneBefore) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the heap is not glibc's";
#endif
  EXPECT_GT(faults_of_a_step(), 1000);
  EXPECT_GT(faults_of_a_step(), 1000);  // or nothing is to be mended
  keep_freed_pages();
  faults_of_a_step();
  EXPECT_LT(faults_of_a_step(), 100);
}

}  // namespace
}  // namespace headroom
