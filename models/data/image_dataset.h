// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/data/dataset.h"
#include "src/core/mapped_file.h"

namespace headroom {

/// Images of ten classes in the layout of CIFAR-10's binary files: records of one label byte, then
/// `channels` planes of side * side bytes, row by row.
struct ImageRecords {
  std::int64_t side = 0;
  std::int64_t channels = 0;  // 1 (grey: the three channels of a sample are equal) or 3
  float max_value = 0;
  std::vector<MappedFile> storage = {};         // what the records lie in, where it has to be kept
  std::vector<const std::uint8_t*> train = {};  // where each record begins
  std::vector<const std::uint8_t*> held_out = {};

  static constexpr std::int64_t kClasses = 10;
  std::int64_t record_bytes() const { return 1 + channels * side * side; }
};

/// Samples of (3, image_size, image_size) fp32 in [-1, 1] (see Resize), labels int64.
/// Throws ConfigError where the model has too few classes.
std::unique_ptr<Dataset> make_image_dataset(ImageRecords records, const DataOptions& options,
                                            std::int64_t num_classes);

/// Resizes square images and maps their values to [-1, 1], which is what mean 0.5 and standard
/// deviation 0.5 make of [0, 1]. Bilinear with half-pixel centres and no antialiasing, as
/// torch.nn.functional.interpolate(mode="bilinear", align_corners=False).
class Resize {
 public:
  /// From images of `from` x `from` pixels with values 0 .. max_value to `to` x `to`.
  Resize(std::int64_t from, std::int64_t to, float max_value);

  /// One channel: `pixels` holds from * from values row by row; to * to values are written.
  void operator()(const std::uint8_t* pixels, float* out) const;

 private:
  struct Tap {
    std::int64_t low, high;  // the two source positions
    float weight;            // of `high`
  };

  std::int64_t from_;
  float scale_;
  std::vector<Tap> taps_;  // one for each target position, the same for rows and columns
};

}  // namespace headroom
