// SPDX-License-Identifier: Apache-2.0
#include "src/memory/host_memory.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "src/memory/device_memory.h"

namespace headroom {
namespace {

TEST(HostPoolTest, CountsWhatItHandsOut) {
  const std::int64_t before = host_pool_bytes();
  {
    const at::Tensor a = host_buffer_like(at::empty({100, 3}));
    EXPECT_EQ(host_pool_bytes() - before, 1200);
    const at::Tensor b = host_buffer_like(at::empty({10}, at::kBFloat16));
    EXPECT_EQ(host_pool_bytes() - before, 1220);
    EXPECT_GE(host_pool_peak_bytes(), before + 1220);
    const at::Tensor view = b.slice(0, 0, 5);  // holds b's memory
  }
  EXPECT_EQ(host_pool_bytes(), before);
  EXPECT_GE(host_pool_peak_bytes(), before + 1220);
}

TEST(HostPoolTest, ABufferHasTheShapeTypeAndStridesOfItsModel) {
  const at::Tensor like = at::ones({2, 3, 4}, at::kDouble).transpose(0, 2);
  const at::Tensor buffer = host_buffer_like(like);
  EXPECT_EQ(buffer.sizes(), like.sizes());
  EXPECT_EQ(buffer.scalar_type(), at::kDouble);
  EXPECT_EQ(buffer.strides(), like.strides());
  buffer.copy_(like);
  EXPECT_EQ(buffer.sum().item<double>(), 24.0);
  const at::Tensor every_second = at::ones({4, 6}).slice(1, 0, 6, 2).t();
  EXPECT_EQ(host_buffer_like(every_second).strides(), at::empty_like(every_second).strides());
}

TEST(HostPoolTest, StaysOutOfTheCpuAllocatorsCount) {
  Ledger ledger;
  const at::Tensor like = at::empty({1000});
  const auto memory = watch_memory(at::kCPU, ledger);
  const at::Tensor buffer = host_buffer_like(like);
  EXPECT_EQ(ledger.current_bytes(), 0);
  EXPECT_EQ(memory->take_peak().allocated_bytes, 0);
}

TEST(HostPoolTest, MapsAFreedSizeOnlyOnce) {
  const at::Tensor like = at::empty({12'345});
  void* const first = host_buffer_like(like).data_ptr();
  const at::Tensor second = host_buffer_like(like);
  EXPECT_EQ(second.data_ptr(), first);
  EXPECT_NE(host_buffer_like(like).data_ptr(), first);
}

TEST(HostPoolTest, AnEmptyBufferTakesNothing) {
  const std::int64_t before = host_pool_bytes();
  const at::Tensor buffer = host_buffer_like(at::empty({0, 4}));
  EXPECT_EQ(buffer.numel(), 0);
  EXPECT_EQ(host_pool_bytes(), before);
}

/// In a process of its own: the pool shares for good.
void write_to_a_shared_buffer() {
  share_host_pool();
  const at::Tensor buffer = host_buffer_like(at::empty({16 << 20}));  // 64 MiB
  buffer.fill_(1.0);
  buffer[0] = 2.0;
  std::_Exit(static_cast<int>(buffer.eq(2.0).sum().item<std::int64_t>()));
}

TEST(HostPoolDeathTest, SharesItsPagesWhereItIsTold) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(write_to_a_shared_buffer(), testing::ExitedWithCode(4), "");
}

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
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
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
