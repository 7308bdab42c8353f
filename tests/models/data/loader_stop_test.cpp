// SPDX-License-Identifier: Apache-2.0
// A loader ends wherever its workers are: at work, waiting for room, or met with an exception.
#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <stdexcept>
#include <vector>

#include "models/data/loader.h"
#include "tests/support/seeded.h"

namespace headroom {
namespace {

/// Batches take a random time, and one in five throws.
class UnevenData final : public Dataset {
 public:
  std::int64_t train_size() const override { return 97; }
  std::int64_t held_out_size() const override { return 0; }
  Batch train(std::span<const std::int64_t> indices) const override {
    ++at_work;
    std::mt19937 random(static_cast<unsigned>(indices.front()));
    sleep_up_to(random, 400);
    --at_work;
    if (random() % 5 == 0) throw std::runtime_error(std::to_string(indices.front()));
    const at::Tensor numbers =
        at::tensor(at::ArrayRef<std::int64_t>(indices.data(), indices.size()));
    return {.inputs = numbers, .attention_mask = {}, .labels = numbers.clone()};
  }
  Batch held_out(std::span<const std::int64_t> indices) const override { return train(indices); }

  mutable std::atomic<int> at_work = 0;
};

/// Nothing where the batch throws.
std::optional<Batch> next(Loader& loader) {
  try {
    return loader.next();
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
}

TEST(LoaderStop, IsCleanAfterAnyNumberOfBatches) {
  const UnevenData data;
  std::mt19937 random = seeded_random();
  for (int trial = 0; trial < 100; ++trial) {
    const std::int64_t seed = trial;
    const DataOptions options{.name = "uneven",
                              .workers = 1 + static_cast<std::int64_t>(random() % 4),
                              .prefetch = 1 + static_cast<std::int64_t>(random() % 4)};
    Loader reference(data, {.name = "uneven", .workers = 0}, 3, seed);
    std::vector<Batch> kept;  // batches outlive the threads that made them
    {
      Loader loader(data, options, 3, seed);
      for (unsigned batches = random() % 12; batches > 0; --batches) {
        sleep_up_to(random, 300);
        const std::optional<Batch> expected = next(reference);
        const std::optional<Batch> batch = next(loader);
        ASSERT_EQ(batch.has_value(), expected.has_value());
        if (!batch) continue;
        EXPECT_TRUE(at::equal(batch->inputs, expected->inputs));
        kept.push_back(*batch);
      }
      sleep_up_to(random, 1000);
    }
    EXPECT_EQ(data.at_work, 0);
    for (const Batch& batch : kept) EXPECT_TRUE(at::equal(batch.inputs, batch.labels));
  }
}

}  // namespace
}  // namespace headroom
