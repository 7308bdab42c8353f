// SPDX-License-Identifier: Apache-2.0
// Data with nothing to learn and nothing to download. Images of normally distributed noise with
// random labels; texts of random token ids.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <stdexcept>

#include "models/data/dataset.h"
#include "models/data/random.h"

namespace headroom {
namespace {

class RandomImages final : public Dataset {
 public:
  RandomImages(const DataOptions& options, std::int64_t num_classes, std::int64_t seed)
      : samples_(options.samples),
        image_size_(options.image_size),
        num_classes_(num_classes),
        seed_(static_cast<std::uint64_t>(seed)) {}

  std::int64_t train_size() const override { return samples_; }
  std::int64_t held_out_size() const override { return 0; }

  Batch train(std::span<const std::int64_t> indices) const override {
    const std::int64_t count = std::ssize(indices);
    Batch batch{.inputs = at::empty({count, 3, image_size_, image_size_}, at::kFloat),
                .attention_mask = {},
                .labels = at::empty({count}, at::kLong)};
    auto* label = batch.labels.mutable_data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint64_t counter = static_cast<std::uint64_t>(indices[i]) * 2;
      // A generator for each sample: what came before it must not matter.
      at::Generator generator = at::detail::createCPUGenerator(random_bits(seed_, counter));
      batch.inputs.select(0, i).normal_(0, 1, generator);
      label[i] = static_cast<std::int64_t>(random_bits(seed_, counter + 1) %
                                           static_cast<std::uint64_t>(num_classes_));
    }
    return batch;
  }

  Batch held_out(std::span<const std::int64_t> /*indices*/) const override {
    throw std::out_of_range("random_images has no held-out part");
  }

 private:
  std::int64_t samples_;
  std::int64_t image_size_;
  std::int64_t num_classes_;
  std::uint64_t seed_;
};

std::unique_ptr<Dataset> make_random_images(const DataOptions& options, std::int64_t num_classes,
                                            std::int64_t seed) {
  return std::make_unique<RandomImages>(options, num_classes, seed);
}

// Texts of random token ids, as the published BERT table has them: ids uniform in [100, 30000),
// every label 0, no attention mask (every token counts).
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

std::unique_ptr<Dataset> make_random_tokens(const DataOptions& options,
                                            std::int64_t /*num_classes*/, std::int64_t seed) {
  return std::make_unique<RandomTokens>(options, seed);
}

}  // namespace

DataEntry random_images_entry() {
  return {.name = "random_images",
          .summary = "normally distributed noise with random labels; no held-out part",
          .input = InputKind::image,
          .make = make_random_images};
}

DataEntry random_tokens_entry() {
  return {.name = "random_tokens",
          .summary = "token ids uniform in [100, 30000), every label 0; no held-out part",
          .input = InputKind::text,
          .make = make_random_tokens};
}

}  // namespace headroom
