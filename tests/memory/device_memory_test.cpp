// SPDX-License-Identifier: Apache-2.0
#include <ATen/ThreadLocalState.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <thread>

#include "src/memory/device_memory.h"
#include "src/memory/streams.h"

namespace headroom {
namespace {

constexpr std::int64_t kKib = 1024;

at::Tensor bytes(std::int64_t count) { return at::empty({count}, at::kByte); }

TEST(CpuMemoryTest, LedgerAndLibTorchCountTheSame) {
  Ledger ledger;
  const auto memory = watch_memory(at::kCPU, ledger);
  {
    const at::Tensor a = at::ones({100, 100});
    const at::Tensor b = at::mm(a, a);
    EXPECT_EQ(ledger.current_bytes(), 80'000);
  }
  EXPECT_EQ(ledger.current_bytes(), 0);
  const PeakMemory peak = memory->take_peak();
  EXPECT_GE(peak.allocated_bytes, 80'000);
  EXPECT_EQ(peak.allocated_bytes, ledger.peak().bytes);
  EXPECT_FALSE(peak.reserved_bytes.has_value());
}

TEST(CpuMemoryTest, TakingAPeakStartsANewOneAtWhatIsHeld) {
  Ledger ledger;
  const auto memory = watch_memory(at::kCPU, ledger);
  const at::Tensor kept = bytes(3 * kKib);
  bytes(10 * kKib);
  EXPECT_EQ(memory->take_peak().allocated_bytes, 13 * kKib);
  EXPECT_EQ(memory->take_peak().allocated_bytes, 3 * kKib);
  bytes(kKib);
  EXPECT_EQ(memory->take_peak().allocated_bytes, 4 * kKib);
  EXPECT_EQ(ledger.peak().bytes, 13 * kKib);  // over the ledger's life
}

TEST(CpuMemoryTest, SeesThreadsThatInheritTheState) {
  Ledger ledger;
  const auto memory = watch_memory(at::kCPU, ledger);
  const at::ThreadLocalState state;
  at::Tensor inherited;
  at::Tensor stranger;
  std::thread([&] {
    stranger = bytes(kKib);
    const at::ThreadLocalStateGuard guard(state);
    inherited = bytes(5 * kKib);
  }).join();
  EXPECT_EQ(ledger.current_bytes(), 5 * kKib);
  inherited.reset();
  EXPECT_EQ(ledger.current_bytes(), 0);
}

TEST(CpuMemoryTest, TagsFollowTheStorageNotTheView) {
  Ledger ledger;
  const auto memory = watch_memory(at::kCPU, ledger);
  const at::Tensor whole = bytes(4 * kKib);
  ledger.tag(whole.slice(0, kKib), Category::activations);
  EXPECT_EQ(ledger.current_bytes(Category::activations), 4 * kKib);
}

TEST(CpuMemoryTest, EndsWithItsScope) {
  Ledger ledger;
  watch_memory(at::kCPU, ledger).reset();
  const at::Tensor made_outside = bytes(kKib);
  EXPECT_EQ(ledger.current_bytes(), 0);
}

TEST(CopyStreamTest, OnTheCpuACopyIsDoneAtOnce) {
  CopyStream stream(at::kCPU);
  const at::Tensor source = at::arange(10.0);
  const at::Tensor target = at::zeros_like(source);
  const CopyStream::Mark mark = stream.copy(target, source);
  const at::Tensor expected = source.clone();
  source.zero_();  // the copy does not read its source later
  EXPECT_EQ(mark.event, nullptr);
  stream.wait(mark);
  stream.join();
  EXPECT_TRUE(at::equal(target, expected));
}

}  // namespace
}  // namespace headroom
