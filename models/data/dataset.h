// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "models/model.h"
#include "models/table.h"
#include "src/core/fields.h"

namespace headroom {

/// What a suite may say of the data and of how they are loaded.
struct DataOptions {
  std::string name;
  std::int64_t image_size = 224;       // pixels, square; image data sets
  std::int64_t sequence_length = 128;  // tokens; text data sets
  std::int64_t samples = 1024;         // of the random data sets; they repeat after so many
  std::string path = {};               // folder of the user's own files; cifar10
  std::int64_t workers = 0;            // threads that prepare batches; 0: the training thread does
  std::int64_t prefetch = 2;           // batches each worker keeps ready
  // Batches in page-locked host memory, copied asynchronously. Without a CUDA device there is no
  // copy to speed up, and batches lie in plain memory.
  bool pinned = false;

  void fields(Fields& f);
  InputShape shape() const;
};

/// Labelled samples in a training part and a held-out part. Thread-safe once made.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual std::int64_t train_size() const = 0;
  virtual std::int64_t held_out_size() const = 0;  // 0: accuracy has no meaning here
  /// Sample `index` of the training part (or the held-out part), on the CPU, B = indices.size().
  /// The same index always gives the same sample.
  virtual Batch train(std::span<const std::int64_t> indices) const = 0;
  virtual Batch held_out(std::span<const std::int64_t> indices) const = 0;
};

/// One data set that a suite can name. The .cpp of a data set ends with its entry.
struct DataEntry {
  std::string_view name;
  std::string_view summary;
  InputKind input;
  /// Throws ConfigError where the user's files are missing or malformed.
  std::unique_ptr<Dataset> (*make)(const DataOptions& options, std::int64_t num_classes,
                                   std::int64_t seed);
};

std::span<const DataEntry> data_table();
const DataEntry& find_data(std::string_view name);

}  // namespace headroom
