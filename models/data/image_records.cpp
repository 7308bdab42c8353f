// SPDX-License-Identifier: Apache-2.0
#include "models/data/image_records.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <utility>

#include "models/data/resize.h"
#include "src/core/error.h"

namespace headroom {
namespace {

constexpr std::int64_t kChannels = 3;

class ImageDataset final : public Dataset {
 public:
  ImageDataset(ImageRecords records, std::int64_t image_size)
      : records_(std::move(records)),
        image_size_(image_size),
        resize_(records_.side, image_size, records_.max_value) {}

  std::int64_t train_size() const override { return std::ssize(records_.train); }
  std::int64_t held_out_size() const override { return std::ssize(records_.held_out); }
  Batch train(std::span<const std::int64_t> indices) const override {
    return read(records_.train, indices);
  }
  Batch held_out(std::span<const std::int64_t> indices) const override {
    return read(records_.held_out, indices);
  }

 private:
  Batch read(const std::vector<const std::uint8_t*>& part,
             std::span<const std::int64_t> indices) const {
    const std::int64_t count = std::ssize(indices);
    Batch batch{.inputs = at::empty({count, kChannels, image_size_, image_size_}, at::kFloat),
                .attention_mask = {},
                .labels = at::empty({count}, at::kLong)};
    auto* image = batch.inputs.mutable_data_ptr<float>();
    auto* label = batch.labels.mutable_data_ptr<std::int64_t>();
    for (const std::int64_t index : indices) {
      const std::uint8_t* record = part.at(static_cast<std::size_t>(index));
      *label++ = record[0];
      image = write_image(record + 1, image);
    }
    return batch;
  }

  float* write_image(const std::uint8_t* pixels, float* image) const {
    const std::int64_t plane = image_size_ * image_size_;
    for (std::int64_t channel = 0; channel < kChannels; ++channel, image += plane) {
      if (channel < records_.channels) {
        resize_(pixels + channel * records_.side * records_.side, image);
      } else {
        std::copy_n(image - plane, plane, image);
      }
    }
    return image;
  }

  ImageRecords records_;
  std::int64_t image_size_;
  Resize resize_;
};

}  // namespace

std::unique_ptr<Dataset> make_image_dataset(ImageRecords records, const DataOptions& options,
                                            std::int64_t num_classes) {
  if (num_classes < ImageRecords::kClasses) {
    throw ConfigError("data " + options.name + " has " + std::to_string(ImageRecords::kClasses) +
                      " classes, model.num_classes is " + std::to_string(num_classes));
  }
  return std::make_unique<ImageDataset>(std::move(records), options.image_size);
}

}  // namespace headroom
