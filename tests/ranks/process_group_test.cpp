// SPDX-License-Identifier: Apache-2.0
#include "src/distributed/process_group.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "src/core/error.h"
#include "tests/ranks/threads.h"
#include "tests/support/temporary_folder.h"

namespace headroom {
namespace {

at::Tensor numbers(std::int64_t count, at::ScalarType dtype) {
  return at::arange(count, at::TensorOptions().dtype(dtype));
}

TEST(ProcessGroupTest, GathersPartsInTheOrderOfRanks) {
  for (const std::int64_t ranks : {1, 2, 4}) {
    on_ranks(ranks, [](ProcessGroup& group) {
      const at::Tensor part = numbers(3, at::kFloat) + 3 * group.rank();
      const at::Tensor all = at::full({3 * group.ranks()}, -1.0);
      group.all_gather(all, part).wait();
      EXPECT_TRUE(at::equal(all, numbers(3 * group.ranks(), at::kFloat)));
      EXPECT_EQ(group.sent_bytes(), (group.ranks() - 1) * 12);
    });
  }
}

// A rank may have nothing to send, such as one that loads its weights and is done: it must not take
// away the connections that others still make.
TEST(ProcessGroupTest, AMemberMayLeaveAtOnce) {
  constexpr std::int64_t kRanks = 3;
  for (int round = 0; round < 60; ++round) {
    const TemporaryFolder folder;
    std::vector<std::jthread> threads;
    for (std::int64_t rank = 0; rank < kRanks; ++rank) {
      threads.emplace_back([&, rank] {
        EXPECT_NO_THROW(
            ProcessGroup({rank, kRanks, folder / "store"}, at::kCPU, CollectiveBackend::automatic));
      });
    }
  }
}

TEST(ProcessGroupTest, HasNoNcclOnTheCpu) {
  for (const auto backend : {CollectiveBackend::nccl, CollectiveBackend::nccl_torch_2_7}) {
    EXPECT_THROW(ProcessGroup({}, at::kCPU, backend), Unsupported);
  }
}

TEST(ProcessGroupTest, GathersInPlace) {
  on_ranks(3, [](ProcessGroup& group) {
    const at::Tensor all = at::full({6}, -1.0);
    const at::Tensor part = all.narrow(0, 2 * group.rank(), 2);
    part.fill_(group.rank());
    group.all_gather(all, part).wait();
    EXPECT_TRUE(at::equal(all, at::arange(3.0F).repeat_interleave(2)));
  });
}

TEST(ProcessGroupTest, ScattersSums) {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kBFloat16, at::kHalf}) {
    on_ranks(4, [dtype](ProcessGroup& group) {
      const at::Tensor all = numbers(8, dtype) + group.rank();
      const at::Tensor part = at::empty({2}, all.options());
      group.reduce_scatter(part, all).wait();
      const at::Tensor expected = 4 * numbers(8, dtype).narrow(0, 2 * group.rank(), 2) + 6;
      EXPECT_TRUE(at::equal(part, expected)) << part;
    });
  }
}

TEST(ProcessGroupTest, CollectivesRunSideBySide) {
  on_ranks(2, [](ProcessGroup& group) {
    const at::Tensor first = at::full({1000}, group.rank() + 1.0);
    const at::Tensor second = at::full({1000}, 10.0 * (group.rank() + 1.0));
    Collective one = group.all_reduce(first);
    Collective other = group.all_reduce(second);
    other.wait();
    one.wait();
    EXPECT_TRUE(at::equal(first, at::full({1000}, 3.0)));
    EXPECT_TRUE(at::equal(second, at::full({1000}, 30.0)));
    EXPECT_EQ(group.sent_bytes(), 2 * 4000);
  });
}

TEST(ProcessGroupTest, SumsASmallTensorInPlace) {
  on_ranks(3, [](ProcessGroup& group) {
    at::Tensor number = at::full({}, 2.0, at::kDouble);
    group.sum(number);
    EXPECT_EQ(number.item<double>(), 6.0);
  });
}

}  // namespace
}  // namespace headroom
