// SPDX-License-Identifier: Apache-2.0
// Images of normally distributed noise with random labels: nothing to learn, nothing to download.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <stdexcept>

#include "models/data/datasets.h"
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

}  // namespace

std::unique_ptr<Dataset> make_random_images(const DataOptions& options, std::int64_t num_classes,
                                            std::int64_t seed) {
  return std::make_unique<RandomImages>(options, num_classes, seed);
}

}  // namespace headroom
