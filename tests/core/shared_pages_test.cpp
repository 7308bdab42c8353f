// SPDX-License-Identifier: Apache-2.0
#include "src/core/shared_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace headroom {
namespace {

constexpr std::size_t kMiB = 1 << 20;

/// Of this process, in bytes: Rss, or Pss, which counts a page that lies in n places 1/n times.
std::size_t memory(const std::string& name) {
  std::ifstream file("/proc/self/smaps_rollup");
  std::string word;
  while (file >> word) {
    std::size_t kib = 0;
    if (word == name + ":" && file >> kib) return kib * 1024;
  }
  return 0;
}

TEST(SharedPages, AreResidentAndTakeNoMemory) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the sanitizer keeps four bytes for each that is written";
#endif
  const std::size_t resident = memory("Rss");
  const std::size_t taken = memory("Pss");
  ASSERT_GT(taken, 0u);
  auto* buffer = static_cast<char*>(map_shared_pages(1000 * kMiB));
  ASSERT_NE(buffer, MAP_FAILED);
  std::fill_n(buffer, 1000 * kMiB, 'x');
  EXPECT_NEAR(static_cast<double>(memory("Rss") - resident), 1000.0 * kMiB, 4.0 * kMiB);
  EXPECT_LT(memory("Pss"), taken + 40 * kMiB);
  munmap(buffer, 1000 * kMiB);
  EXPECT_LT(memory("Rss"), resident + 20 * kMiB);
}

TEST(SharedPages, LeaveWhatLiesBesideTheBuffer) {
  auto* mapping = static_cast<char*>(
      mmap(nullptr, 40 * kMiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::fill_n(mapping, 40 * kMiB, 'x');
  char* const buffer = mapping + 1000;
  char* const end = buffer + 33 * kMiB;
  share_pages(buffer, 33 * kMiB);
  std::fill(buffer, end, 'y');
  EXPECT_EQ(std::count(mapping, buffer, 'x'), buffer - mapping);
  EXPECT_EQ(std::count(end, mapping + 40 * kMiB, 'x'), mapping + 40 * kMiB - end);
  EXPECT_EQ(std::count(buffer, end, 'y'), end - buffer);
  buffer[kMiB / 2] = 'z';
  EXPECT_EQ(std::count(buffer, end, 'z'), 3);  // in each 16 MiB
  munmap(mapping, 40 * kMiB);
}

TEST(SharedPages, AreNotForSmallBuffers) {
  auto* one = static_cast<char*>(map_shared_pages(kMiB - 1));
  auto* other = static_cast<char*>(map_shared_pages(kMiB - 1));
  *one = 'x';
  *other = 'y';
  EXPECT_EQ(*one, 'x');
  munmap(one, kMiB - 1);
  munmap(other, kMiB - 1);
}

}  // namespace
}  // namespace headroom
