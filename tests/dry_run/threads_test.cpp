// SPDX-License-Identifier: Apache-2.0
// The dry run's device, asked by several threads at a time, as by those of autograd and of a loader
// that pins what it loads.
#include <gtest/gtest.h>

#include <atomic>
#include <set>

#include "src/dry_run/memory.h"
#include "src/dry_run/timeline.h"
#include "tests/support/on_threads.h"

namespace headroom::dry_run {
namespace {

constexpr int kTurns = 3000;

TEST(GpuMemoryThreads, GetMemoryOfTheirOwnAndGiveAllOfItBack) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the sanitizer leaves no room for the device's addresses";
#endif
  constexpr std::int64_t kTotal = std::int64_t{1} << 30;
  GpuMemory memory(kTotal, /*context=*/0, /*overcommit=*/false);
  std::atomic<std::int64_t> refused = 0;
  on_threads([&](int, std::mt19937& random) {
    std::set<void*> mine;
    for (int turn = 0; turn < kTurns; ++turn) {
      void* address = memory.allocate(static_cast<std::int64_t>(1 + random() % (64 << 20)));
      if (address == nullptr) {
        ++refused;
      } else {
        EXPECT_TRUE(mine.insert(address).second);
      }
      EXPECT_LE(memory.used(), kTotal);
      if (mine.empty() || random() % 2 == 0) continue;
      EXPECT_TRUE(memory.release(*mine.begin()));
      mine.erase(mine.begin());
    }
    for (const void* address : mine) EXPECT_TRUE(memory.release(address));
  });
  EXPECT_EQ(memory.used(), 0);
  EXPECT_GT(refused, 0) << "memory has to become scarce, or that path is not tried";
}

TEST(PinnedMemoryThreads, KnowTheirOwn) {
  PinnedMemory pinned;
  on_threads([&](int, std::mt19937& random) {
    for (int turn = 0; turn < kTurns; ++turn) {
      void* const address = pinned.allocate(static_cast<std::int64_t>(1 + random() % 9000));
      EXPECT_TRUE(pinned.owns(address));
      EXPECT_GT(pinned.peak_bytes(), 0);
      pinned.release(address);
    }
  });
}

TEST(TimelineThreads, EachSeeTheirOwnStreamInOrder) {
  Timeline timeline(/*host_ns=*/1, /*launch_queue=*/8,
                    {[](const Work&) {
                       return Moment{0, 1, 1};
                     },
                     [] { return Moment{}; }});
  std::atomic<std::int64_t> work_ns = 0;
  on_threads([&](int, std::mt19937& random) {
    const cudaStream_t stream = timeline.make_stream(0);
    for (int turn = 0; turn < kTurns; ++turn) {
      const cudaEvent_t before = timeline.make_event();
      const cudaEvent_t after = timeline.make_event();
      const auto ns = static_cast<std::int64_t>(1 + random() % 100);
      timeline.record(before, stream);
      timeline.run(stream, {.ns = {ns}});
      timeline.record(after, stream);
      work_ns += ns;
      if (random() % 2 == 0) {
        timeline.synchronize(after);
        EXPECT_TRUE(timeline.is_over(before));
      }
      EXPECT_GE(timeline.elapsed_ns(before, after), ns);
      timeline.drop_event(before);
      timeline.drop_event(after);
    }
    timeline.synchronize(stream);
    EXPECT_TRUE(timeline.is_idle(stream));
    timeline.drop_stream(stream);
  });
  EXPECT_GE(timeline.now_ns() * kThreads, work_ns);
}

}  // namespace
}  // namespace headroom::dry_run
