// SPDX-License-Identifier: Apache-2.0
#include "models/data/loader.h"

#include <ATen/Context.h>
#include <ATen/Functions.h>
#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <set>
#include <stdexcept>
#include <thread>

#include "src/core/error.h"

namespace headroom {
namespace {

/// Sample i is the number i. Keeps count of the batches made and fails at a chosen sample.
class Numbers final : public Dataset {
 public:
  explicit Numbers(std::int64_t size, std::int64_t bad = -1) : size_(size), bad_(bad) {}
  std::int64_t train_size() const override { return size_; }
  std::int64_t held_out_size() const override { return 0; }
  Batch train(std::span<const std::int64_t> indices) const override {
    ++made;
    for (const std::int64_t index : indices) {
      if (index == bad_) throw std::runtime_error("sample " + std::to_string(index));
    }
    const at::Tensor numbers =
        at::tensor(at::ArrayRef<std::int64_t>(indices.data(), indices.size()));
    return {.inputs = numbers, .attention_mask = {}, .labels = numbers.clone()};
  }
  Batch held_out(std::span<const std::int64_t> indices) const override { return train(indices); }

  mutable std::atomic<std::int64_t> made = 0;

 private:
  std::int64_t size_;
  std::int64_t bad_;
};

using Samples = std::vector<std::int64_t>;

Samples take(Loader& loader) {
  const at::Tensor labels = loader.next().labels;
  const auto* data = labels.const_data_ptr<std::int64_t>();
  return {data, data + labels.numel()};
}

class LoaderWith : public testing::TestWithParam<std::int64_t> {
 protected:
  DataOptions options(std::int64_t prefetch = 2) const {
    return {.name = "numbers", .workers = GetParam(), .prefetch = prefetch};
  }
};

TEST_P(LoaderWith, GivesTheOrderOfNoWorkers) {
  const Numbers data(23);
  Loader reference(data, {.name = "numbers", .workers = 0}, 5, 7);
  Loader loader(data, options(), 5, 7);
  for (int k = 0; k < 40; ++k) EXPECT_EQ(take(loader), take(reference)) << k;
}

TEST_P(LoaderWith, DropsTheLastSmallerBatchAndShufflesEachEpoch) {
  const Numbers data(23);
  Loader loader(data, options(), 5, 7);
  std::vector<Samples> epochs;
  for (int epoch = 0; epoch < 3; ++epoch) {
    Samples samples;
    for (int k = 0; k < 4; ++k) {
      for (const std::int64_t sample : take(loader)) samples.push_back(sample);
    }
    EXPECT_EQ(std::set(samples.begin(), samples.end()).size(), 20U);
    epochs.push_back(samples);
  }
  EXPECT_NE(epochs[0], epochs[1]);
  EXPECT_NE(epochs[1], epochs[2]);
  Loader other_seed(data, options(), 20, 8);
  EXPECT_NE(take(other_seed), epochs[0]);
}

TEST_P(LoaderWith, ForwardsAnExceptionAndGoesOnAfterIt) {
  const Numbers good(20);
  const Numbers bad(20, /*bad=*/11);
  Loader reference(good, options(), 5, 7);
  Loader loader(bad, options(), 5, 7);
  int failures = 0;
  for (int k = 0; k < 12; ++k) {
    const Samples expected = take(reference);
    if (std::find(expected.begin(), expected.end(), 11) == expected.end()) {
      EXPECT_EQ(take(loader), expected);
      continue;
    }
    ++failures;
    try {
      take(loader);
      FAIL() << "no error in batch " << k;
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "sample 11");
    }
  }
  EXPECT_EQ(failures, 3);
}

TEST_P(LoaderWith, RefusesADataSetOfLessThanOneBatch) {
  const Numbers data(4);
  EXPECT_THROW(Loader(data, options(), 5, 7), ConfigError);
  EXPECT_NO_THROW(Loader(data, options(), 4, 7));
}

/// Counts what is allocated on the CPU on behalf of this thread.
class Observer final : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void* /*pointer*/, std::int64_t size, std::size_t /*allocated*/,
                         std::size_t /*reserved*/, c10::Device /*device*/) override {
    live += size;
    if (size > 0) ++allocations;
  }
  bool memoryProfilingEnabled() const override { return true; }

  std::atomic<std::int64_t> live = 0;
  std::atomic<std::int64_t> allocations = 0;
};

TEST_P(LoaderWith, ReportsItsAllocationsToTheCallersObserver) {
  const auto observer = std::make_shared<Observer>();
  const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, observer);
  const DataOptions data{.name = "random_images", .image_size = 32, .samples = 64};
  const auto images = find_data(data.name).make(data, 10, 1);
  {
    Loader loader(*images, options(), 8, 7);
    for (int k = 0; k < 8; ++k) loader.next();
    EXPECT_GE(observer->allocations, 16);  // images and labels of each batch
  }
  EXPECT_EQ(observer->live, 0);
}

TEST_P(LoaderWith, PinsOnlyWhereACudaDeviceIs) {
  const Numbers data(20);
  DataOptions pinned = options();
  pinned.pinned = true;
  Loader loader(data, pinned, 5, 7);
  const Batch batch = loader.next();
  EXPECT_EQ(batch.inputs.is_pinned(), at::hasCUDA());
  EXPECT_TRUE(at::equal(batch.inputs, batch.labels));
}

INSTANTIATE_TEST_SUITE_P(Workers, LoaderWith, testing::Values(0, 1, 3));

TEST(Loader, KeepsNoMoreThanThePrefetchAndStopsWithFullQueues) {
  const Numbers data(1000);
  {
    Loader loader(data, {.name = "numbers", .workers = 3, .prefetch = 4}, 5, 7);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (data.made < 12 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    // A worker that ignored the limit would have gone on meanwhile.
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(data.made, 12);
  }
  EXPECT_EQ(data.made, 12);
}

TEST(Loader, StopsWhileWorkersAreBusy) {
  const Numbers data(1000);
  for (int i = 0; i < 50; ++i) {
    Loader loader(data, {.name = "numbers", .workers = 3, .prefetch = 64}, 5, 7);
    loader.next();
  }
}

}  // namespace
}  // namespace headroom
