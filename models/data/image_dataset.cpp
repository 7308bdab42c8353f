// SPDX-License-Identifier: Apache-2.0
#include "models/data/image_dataset.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <utility>

#include "src/core/error.h"

namespace headroom {
namespace {

constexpr std::int64_t kImageChannels = 3;

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
    Batch batch{.inputs = at::empty({count, kImageChannels, image_size_, image_size_}, at::kFloat),
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
    for (std::int64_t channel = 0; channel < kImageChannels; ++channel, image += plane) {
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

Resize::Resize(std::int64_t from, std::int64_t to, float max_value)
    : from_(from), scale_(2.0F / max_value) {
  const double ratio = static_cast<double>(from) / static_cast<double>(to);
  for (std::int64_t i = 0; i < to; ++i) {
    const double center = std::max(0.0, (static_cast<double>(i) + 0.5) * ratio - 0.5);
    const auto low = std::min(static_cast<std::int64_t>(center), from - 1);
    taps_.push_back({.low = low,
                     .high = std::min(low + 1, from - 1),
                     .weight = static_cast<float>(center - static_cast<double>(low))});
  }
}

void Resize::operator()(const std::uint8_t* pixels, float* out) const {
  std::vector<float> row(static_cast<std::size_t>(from_));
  for (const Tap& y : taps_) {
    const std::uint8_t* low = pixels + y.low * from_;
    const std::uint8_t* high = pixels + y.high * from_;
    for (std::size_t x = 0; x < row.size(); ++x) {
      row[x] =
          (static_cast<float>(low[x]) * (1 - y.weight) + static_cast<float>(high[x]) * y.weight) *
              scale_ -
          1;
    }
    for (const Tap& x : taps_) *out++ = row[x.low] * (1 - x.weight) + row[x.high] * x.weight;
  }
}

std::unique_ptr<Dataset> make_image_dataset(ImageRecords records, const DataOptions& options,
                                            std::int64_t num_classes) {
  if (num_classes < ImageRecords::kClasses) {
    throw ConfigError("data " + options.name + " has " + std::to_string(ImageRecords::kClasses) +
                      " classes, model.num_classes is " + std::to_string(num_classes));
  }
  return std::make_unique<ImageDataset>(std::move(records), options.image_size);
}

}  // namespace headroom
