// SPDX-License-Identifier: Apache-2.0
// CIFAR-10 out of the user's own copy of its binary version (A. Krizhevsky, "Learning Multiple
// Layers of Features from Tiny Images", 2009): colour images of 32 x 32 pixels, 10,000 a file.
//
// As the published ViT table does, 45,000 of the 50,000 training images are trained on (here: the
// first, the files being in random order already); the 10,000 of the test file are held out.
#include <filesystem>
#include <span>
#include <string>
#include <utility>

#include "models/data/image_dataset.h"
#include "src/core/error.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kImagesPerFile = 10'000;
constexpr std::size_t kCifar10Train = 45'000;
constexpr std::string_view kWhereFrom =
    "get the binary version of CIFAR-10 from https://www.cs.toronto.edu/~kriz/cifar.html and set "
    "data.path to the folder that holds data_batch_1.bin .. data_batch_5.bin and test_batch.bin";

ConfigError bad_file(const fs::path& file, const std::string& problem) {
  return ConfigError(file.string() + ": " + problem + "; " + std::string(kWhereFrom));
}

MappedFile map_file(const fs::path& file) {
  try {
    return MappedFile(file.string());
  } catch (const ConfigError& error) {
    throw ConfigError(std::string(error.what()) + "; " + std::string(kWhereFrom));
  }
}

/// Adds a file's images to `part`, up to `max_images`, and the file to what they lie in.
void add_file(ImageRecords& records, std::vector<const std::uint8_t*>& part, const fs::path& file,
              std::size_t max_images) {
  const auto record_bytes = static_cast<std::size_t>(records.record_bytes());
  const std::span<const std::uint8_t> bytes = records.storage.emplace_back(map_file(file)).bytes();
  if (bytes.size() != kImagesPerFile * record_bytes) {
    throw bad_file(file, "has " + std::to_string(bytes.size()) + " bytes instead of " +
                             std::to_string(kImagesPerFile * record_bytes));
  }
  for (std::size_t i = 0; i < kImagesPerFile && part.size() < max_images; ++i) {
    const std::uint8_t* record = &bytes[i * record_bytes];
    if (record[0] >= ImageRecords::kClasses) {
      throw bad_file(file, "image " + std::to_string(i) + " has the label " +
                               std::to_string(record[0]) + ", allowed are 0 .. 9");
    }
    part.push_back(record);
  }
}

std::unique_ptr<Dataset> make_cifar10(const DataOptions& options, std::int64_t num_classes,
                                      std::int64_t /*seed*/) {
  if (options.path.empty()) throw ConfigError("data.path is missing; " + std::string(kWhereFrom));
  ImageRecords records{.side = 32, .channels = 3, .max_value = 255};
  const fs::path folder(options.path);
  for (int i = 1; i <= 5; ++i) {
    add_file(records, records.train, folder / ("data_batch_" + std::to_string(i) + ".bin"),
             kCifar10Train);
  }
  add_file(records, records.held_out, folder / "test_batch.bin", kImagesPerFile);
  return make_image_dataset(std::move(records), options, num_classes);
}

}  // namespace

DataEntry cifar10_entry() {
  return {.name = "cifar10",
          .summary = "CIFAR-10 from your folder of its binary files; 45,000 to train on",
          .input = InputKind::image,
          .make = make_cifar10};
}

}  // namespace headroom
