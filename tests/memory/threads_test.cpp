// SPDX-License-Identifier: Apache-2.0
// What the memory's account is told from several threads at a time: those of the loader, of
// autograd and of collectives.
#include <ATen/Functions.h>
#include <ATen/ThreadLocalState.h>
#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "src/memory/device_memory.h"
#include "src/memory/host_memory.h"
#include "tests/support/on_threads.h"

namespace headroom {
namespace {

constexpr int kTurns = 1000;

TEST(HostPoolThreads, HaveBuffersOfTheirOwnThatAnotherThreadMayFree) {
  const std::int64_t before = host_pool_bytes();
  std::mutex mutex;
  std::vector<at::Tensor> left(8);  // by one thread, for another
  on_threads([&](int number, std::mt19937& random) {
    for (int turn = 0; turn < kTurns; ++turn) {
      at::Tensor buffer =
          host_buffer_like(at::empty({static_cast<std::int64_t>(1 + random() % 3)}));
      buffer.fill_(number);
      if (turn % 16 == 0) std::this_thread::yield();
      EXPECT_TRUE(buffer.eq(number).all().item<bool>());
      {
        const std::lock_guard lock(mutex);
        std::swap(buffer, left[random() % left.size()]);
      }
      buffer.reset();  // not under the lock, which would order it with others
    }
  });
  left.clear();
  EXPECT_EQ(host_pool_bytes(), before);
}

TEST(LedgerThreads, AreSummedWhileOthersAsk) {
  Ledger ledger;
  ledger.start_places();
  const OperatorScope operators;
  std::vector<at::Tensor> kept(kThreads);
  {
    const auto memory = watch_memory(at::kCPU, ledger);
    const at::ThreadLocalState state;
    on_threads([&](int number, std::mt19937& random) {
      const at::ThreadLocalStateGuard inherit(state);
      at::Tensor& mine = kept[static_cast<std::size_t>(number)];
      for (int turn = 0; turn < kTurns; ++turn) {
        if (number == 0) {  // the others are where the first one is
          const PhaseScope phase(random() % 2 == 0 ? Phase::forward : Phase::backward);
          enter_block(static_cast<std::int64_t>(random() % 5));
        }
        mine = at::ones({static_cast<std::int64_t>(1 + random() % 100)});
        ledger.tag(mine, Category::activations);
        EXPECT_FALSE(ledger.peak().tensors.empty());
        if (random() % 50 == 0) memory->take_peak();
      }
    });
    std::int64_t bytes = 0;
    for (const at::Tensor& tensor : kept) bytes += static_cast<std::int64_t>(tensor.nbytes());
    EXPECT_EQ(ledger.current_bytes(), bytes);
    EXPECT_EQ(ledger.current_bytes(Category::activations), bytes);
    kept.clear();
  }
  EXPECT_EQ(ledger.current_bytes(), 0);
  EXPECT_FALSE(ledger.end_places().empty());
}

}  // namespace
}  // namespace headroom
