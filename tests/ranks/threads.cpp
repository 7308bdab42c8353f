// SPDX-License-Identifier: Apache-2.0
#include "tests/ranks/threads.h"

#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace headroom {
namespace {

/// LibTorch's record of collectives is one for the process, and not for several threads at a time.
const int kNoFlightRecorder = setenv("TORCH_FR_BUFFER_SIZE", "0", /*overwrite=*/1);

}  // namespace

void on_ranks(std::int64_t ranks, const std::function<void(ProcessGroup&)>& work) {
  ASSERT_EQ(kNoFlightRecorder, 0);
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
