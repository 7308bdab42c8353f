// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/data/data.h"

namespace headroom {

/// Images of ten classes in the layout of CIFAR-10's binary files: records of one label byte, then
/// `channels` planes of side * side bytes, row by row.
struct ImageRecords {
  std::int64_t side = 0;
  std::int64_t channels = 0;  // 1 (grey: the three channels of a sample are equal) or 3
  float max_value = 0;
  std::vector<std::string> storage = {};        // what the records lie in, where it has to be kept
  std::vector<const std::uint8_t*> train = {};  // where each record begins
  std::vector<const std::uint8_t*> held_out = {};

  static constexpr std::int64_t kClasses = 10;
  std::int64_t record_bytes() const { return 1 + channels * side * side; }
};

/// Samples of (3, image_size, image_size) fp32 in [-1, 1] (see Resize), labels int64.
/// Throws ConfigError where the model has too few classes.
std::unique_ptr<Dataset> make_image_dataset(ImageRecords records, const DataOptions& options,
                                            std::int64_t num_classes);

}  // namespace headroom
