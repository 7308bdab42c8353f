// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/compiled_work.h"

#include <gtest/gtest.h>

#include <array>

namespace headroom::dry_run {
namespace {

constexpr std::int64_t kThreads = 1024;
constexpr std::int64_t kBytes = std::int64_t{1} << 30;

std::int64_t ns_of(const Work& work) { return work.ns[static_cast<std::size_t>(WorkKind::memory)]; }

class CompiledWork : public testing::Test {
 protected:
  CompiledWork() {
    blocks_.note(in_, kBytes);
    blocks_.note(out_, kBytes);
  }
  std::int64_t ns(void** arguments, std::int64_t threads = kThreads) const {
    return ns_of(compiled_work(gpu_, arguments, threads, blocks_));
  }
  std::int64_t ns_of_vectors(std::int64_t bytes) const {
    return ns_of(memory_work(gpu_, bytes, Access::vectors));
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
  const std::int64_t by_threads = ns_of(memory_work(gpu_, kThreads * kBytesPerThread));
  EXPECT_EQ(ns(arguments.data()), by_threads);
  std::array<void*, 1> none{nullptr};
  EXPECT_EQ(ns(none.data()), by_threads);
  EXPECT_EQ(ns(nullptr), by_threads);
}

}  // namespace
}  // namespace headroom::dry_run
