// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/compiled_work.h"

#include <gtest/gtest.h>

#include <array>

namespace headroom::dry_run {
namespace {

constexpr unsigned kThreads = 256;
constexpr std::int64_t kBytes = std::int64_t{1} << 30;

std::int64_t ns_of(const Work& work) { return work.ns[static_cast<std::size_t>(WorkKind::memory)]; }

class CompiledWork : public testing::Test {
 protected:
  CompiledWork() {
    blocks_.note(in_, kBytes);
    blocks_.note(out_, kBytes);
  }
  std::int64_t ns(void** arguments, unsigned threads = kThreads) const {
    const ptx::Launch launch{{1, 1, 1}, {threads, 1, 1}, arguments};
    const std::int64_t bytes = tensor_bytes(arguments, blocks_);
    return ns_of(compiled_work(gpu_, launch, Parts{bytes}, /*count=*/{}));
  }
  std::int64_t ns_of_vectors(std::int64_t bytes) const {
    return ns_of(memory_work(gpu_, {bytes}, Access::vectors));
  }

  const char* in_ = reinterpret_cast<const char*>(0x100000000);
  const char* out_ = reinterpret_cast<const char*>(0x900000000);
  int count_ = 1 << 28;
  const Gpu gpu_ = *find_gpu("h100");
  LiveBlocks blocks_;
};

TEST_F(CompiledWork, IsEachTensorOnceInAnyBlocks) {
  std::array<void*, 4> arguments{&in_, &count_, &out_, nullptr};
  EXPECT_EQ(ns(arguments.data()), ns_of_vectors(2 * kBytes));
  EXPECT_EQ(ns(arguments.data(), 4 * kThreads), ns(arguments.data()));
}

TEST_F(CompiledWork, IsWhatIsBehindAPlaceInATensor) {
  const char* last = in_ + kBytes / 4 * 3;
  std::array<void*, 2> arguments{&last, nullptr};
  EXPECT_EQ(ns(arguments.data()), ns_of_vectors(kBytes / 4));
}

TEST_F(CompiledWork, EndsWhereNoArgumentIs) {
  struct {
    const char* first;
    std::array<char, 8192> others;
    const char* far;
  } frame{in_, {}, out_};
  std::array<void*, 2> arguments{&frame.first, &frame.far};
  EXPECT_EQ(ns(arguments.data()), ns_of_vectors(kBytes));
}

TEST_F(CompiledWork, CountsByThreadsWhereNoTensorIsFirst) {
  std::array<void*, 3> arguments{&count_, &in_, nullptr};
  const std::int64_t by_threads = ns_of(memory_work(gpu_, {kThreads * kBytesPerThread}));
  EXPECT_EQ(ns(arguments.data()), by_threads);
  std::array<void*, 1> none{nullptr};
  EXPECT_EQ(ns(none.data()), by_threads);
  EXPECT_EQ(ns(nullptr), by_threads);
}

// A launch of 132 blocks has one for each multiprocessor of an H100.
TEST_F(CompiledWork, IsWhatHasNoRoomInRegistersToo) {
  ptx::Count count;
  count.reached_bytes = 4.0 * kBytes;
  count.spilled_bytes = 3.0 * kBytes;
  const ptx::Launch launch{{132, 1, 1}, {kThreads, 1, 1}, nullptr};
  Parts parts{.bytes = 2 * kBytes, .spilled_of_thread = 3000};
  Gpu gpu = gpu_;
  gpu.l2_bytes = 132 * kThreads * 3000 - 1;
  EXPECT_EQ(ns_of(compiled_work(gpu, launch, parts, count)),
            ns_of(memory_work(gpu, {5 * kBytes}, Access::numbers)));
  gpu.l2_bytes += 1;
  EXPECT_EQ(ns_of(compiled_work(gpu, launch, parts, count)), ns_of_vectors(2 * kBytes));
}

TEST_F(CompiledWork, IsWhatItExecutesWhereThatTakesLonger) {
  ptx::Count count;
  count.reached_bytes = 4.0 * kBytes;
  count.flops[static_cast<std::size_t>(Precision::bfloat16)] = 1e12;
  count.issued = 132 * 4 * 1e6;  // a million cycles
  const auto of_blocks = [&](unsigned blocks) {
    return compiled_work(gpu_, {{blocks, 1, 1}, {kThreads, 1, 1}, nullptr}, Parts{2 * kBytes},
                         count);
  };
  const Work work = of_blocks(132);
  const double products = 1e12 / (0.805 * 989.4e12) * 1e9;
  const double cycles = 1e6 / (66.9e12 / (2 * 128 * 132)) * 1e9;
  EXPECT_NEAR(static_cast<double>(work.all_ns()), products + cycles + 2000, 0.002 * products);
  EXPECT_EQ(work.product_flops, 1'000'000'000'000);
  EXPECT_TRUE(work.is_compiled);
  // With one block more the last multiprocessor takes as long again.
  EXPECT_NEAR(static_cast<double>(of_blocks(133).all_ns()) / static_cast<double>(work.all_ns()),
              2 * 132 / 133.0, 0.01);
  count = {.reached_bytes = 4.0 * kBytes};
  EXPECT_EQ(ns_of(of_blocks(132)), ns_of_vectors(2 * kBytes));
  // A few numbers of large tensors.
  count.reached_bytes = kBytes / 4.0;
  EXPECT_EQ(ns_of(of_blocks(132)), ns_of_vectors(kBytes / 4));
}

}  // namespace
}  // namespace headroom::dry_run
