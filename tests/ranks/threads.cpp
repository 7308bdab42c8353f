// SPDX-License-Identifier: Apache-2.0
#include "tests/ranks/threads.h"

#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace headroom {

void on_ranks(std::int64_t ranks, const std::function<void(ProcessGroup&)>& work) {
  const TemporaryFolder folder;
  std::vector<std::jthread> threads;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        ProcessGroup group({rank, ranks, folder / "store"}, at::kCPU, CollectiveBackend::automatic);
        work(group);
        at::Tensor end = at::ones({1});
        group.sum(end);  // a group must not go while others still use it
      } catch (const std::exception& error) {
        ADD_FAILURE() << "rank " << rank << ": " << error.what();
      }
    });
  }
}

}  // namespace headroom
