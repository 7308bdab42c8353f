// SPDX-License-Identifier: Apache-2.0
// Texts of random token ids, as the published BERT table has them: ids uniform in [100, 30000),
// every label 0, no attention mask (every token counts).
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <stdexcept>

#include "models/data/datasets.h"
#include "models/data/random.h"

namespace headroom {
namespace {

constexpr std::uint64_t kFirstId = 100;
constexpr std::uint64_t kIds = 29'900;

class RandomTokens final : public Dataset {
 public:
  RandomTokens(const DataOptions& options, std::int64_t seed)
      : samples_(options.samples),
        sequence_length_(options.sequence_length),
        seed_(static_cast<std::uint64_t>(seed)) {}

  std::int64_t train_size() const override { return samples_; }
  std::int64_t held_out_size() const override { return 0; }

  Batch train(std::span<const std::int64_t> indices) const override {
    const std::int64_t count = std::ssize(indices);
    Batch batch{.inputs = at::empty({count, sequence_length_}, at::kLong),
                .attention_mask = {},
                .labels = at::zeros({count}, at::kLong)};
    auto* id = batch.inputs.mutable_data_ptr<std::int64_t>();
    for (const std::int64_t index : indices) {
      for (std::int64_t position = 0; position < sequence_length_; ++position) {
        const auto counter = static_cast<std::uint64_t>(index * sequence_length_ + position);
        *id++ = static_cast<std::int64_t>(kFirstId + random_bits(seed_, counter) % kIds);
      }
    }
    return batch;
  }

  Batch held_out(std::span<const std::int64_t> /*indices*/) const override {
    throw std::out_of_range("random_tokens has no held-out part");
  }

 private:
  std::int64_t samples_;
  std::int64_t sequence_length_;
  std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<Dataset> make_random_tokens(const DataOptions& options,
                                            std::int64_t /*num_classes*/, std::int64_t seed) {
  return std::make_unique<RandomTokens>(options, seed);
}

}  // namespace headroom
